// A finished picture, put into the window's viewport as it is.

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var filtering: sampler;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) at: vec2f,
}

@vertex
fn whole_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u) * 2.0, f32(index >> 1u) * 2.0);
    return Corner(vec4f(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0), at);
}

@fragment
fn present_fragment(corner: Corner) -> @location(0) vec4f {
    return vec4f(textureSampleLevel(picture, filtering, corner.at, 0.0).rgb, 1.0);
}
