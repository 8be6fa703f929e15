// Labels: quads of whole pixels, each with one glyph of the atlas.

// Red is the glyph, green its halo.
@group(0) @binding(0) var atlas: texture_2d<f32>;
// Metres along the optical axis, as sensors see it.
@group(0) @binding(1) var sensed_depth: texture_2d<f32>;

struct Glyph {
    // Upper left and size, in pixels of the picture.
    @location(0) rectangle: vec4f,
    @location(1) colour: vec4f,
    // The label's position: pixel, metres along the optical axis; and what is left of it behind something.
    @location(2) anchor: vec4f,
    // Upper left in the atlas; then 1 for the halo.
    @location(3) image: vec4f,
}

struct Drawn {
    @builtin(position) clip: vec4f,
    @location(0) texel: vec2f,
    @location(1) @interpolate(flat) colour: vec4f,
    @location(2) @interpolate(flat) halo: f32,
}

// The whole label at once: text that is half hidden cannot be read.
fn visible(anchor: vec4f) -> f32 {
    let at = vec2i(floor(anchor.xy));
    if any(at < vec2i(0)) || any(at >= vec2i(textureDimensions(sensed_depth))) {
        return 1.0;
    }
    // A little in front of itself, so that a label on a surface is not behind that surface.
    let behind = textureLoad(sensed_depth, at, 0).x < anchor.z * 0.995 - 0.01;
    return select(1.0, anchor.w, behind);
}

@vertex
fn glyph_vertex(@builtin(vertex_index) index: u32, glyph: Glyph) -> Drawn {
    let right = index == 1u || index == 4u || index == 5u;
    let lower = index == 2u || index == 3u || index == 5u;
    let corner = vec2f(select(0.0, 1.0, right), select(0.0, 1.0, lower)) * glyph.rectangle.zw;
    let ndc = (glyph.rectangle.xy + corner) / vec2f(textureDimensions(sensed_depth)) * 2.0 - 1.0;
    let colour = vec4f(glyph.colour.rgb, glyph.colour.a * visible(glyph.anchor));
    return Drawn(vec4f(ndc.x, -ndc.y, 0.0, 1.0), glyph.image.xy + corner, colour, glyph.image.z);
}

@fragment
fn glyph_fragment(in: Drawn) -> @location(0) vec4f {
    let texel = textureLoad(atlas, vec2i(floor(in.texel)), 0);
    return vec4f(in.colour.rgb, in.colour.a * mix(texel.r, texel.g, in.halo));
}
