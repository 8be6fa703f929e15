// From light to a picture: exposure, tone curve, and the outline of what is selected.

@group(0) @binding(0) var light: texture_2d<f32>;
@group(0) @binding(1) var objects: texture_2d<u32>;
@group(0) @binding(2) var<uniform> selected: vec4u;

@vertex
fn whole_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

// A filmic curve: straight in the middle, with a toe and a shoulder that never clips.
fn tone(colour: vec3f) -> vec3f {
    let x = max(colour, vec3f(0.0)) * 0.55;
    return clamp((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), vec3f(0.0), vec3f(1.0));
}

@fragment
fn develop_fragment(@builtin(position) position: vec4f) -> @location(0) vec4f {
    let at = vec2i(position.xy);
    let colour = tone(textureLoad(light, at, 0).rgb);
    if selected.x == 0u || textureLoad(objects, at, 0).x == selected.x {
        return vec4f(colour, 1.0);
    }
    let size = vec2i(textureDimensions(objects));
    var edge = 0.0;
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            let near = clamp(at + vec2i(x, y), vec2i(0), size - 1);
            if x * x + y * y <= 5 && textureLoad(objects, near, 0).x == selected.x {
                edge = 1.0;
            }
        }
    }
    return vec4f(mix(colour, vec3f(1.0, 0.38, 0.05), edge), 1.0);
}
