// Everything with a shape: shadow map, lit colour, and what sensors see. Conventions as in camera.rs: the world has
// +z up, clip depth is 1 near and 0 far.

struct Globals {
    clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    shadow_from_world: mat4x4f,
    // The camera's z axis in the world, and what to add so that the product with a point is its depth.
    depth_axis: vec4f,
    eye: vec4f,
    // Towards the sun.
    sun_direction: vec4f,
    sun_radiance: vec4f,
    zenith: vec4f,
    horizon: vec4f,
    ground: vec4f,
    // Picture width and height, shadow texel in metres, 1 for parallel rays.
    picture: vec4f,
}

@group(0) @binding(0) var<uniform> globals: Globals;
@group(1) @binding(0) var shadow_map: texture_depth_2d;
@group(1) @binding(1) var shadow_sampler: sampler_comparison;

struct Corner {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) stretch: f32,
}

struct Thing {
    // Rows of the matrix from object to world.
    @location(3) row_x: vec4f,
    @location(4) row_y: vec4f,
    @location(5) row_z: vec4f,
    // Base colour, and half the length of a capsule.
    @location(6) colour: vec4f,
    // Metallic and roughness.
    @location(7) surface: vec2f,
    @location(8) object: u32,
}

struct Surface {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) colour: vec3f,
    @location(3) surface: vec2f,
    @location(4) @interpolate(flat) object: u32,
}

fn world_position(corner: Corner, thing: Thing) -> vec3f {
    let at = vec4f(corner.position, 1.0);
    let axis_z = vec3f(thing.row_x.z, thing.row_y.z, thing.row_z.z);
    let along = normalize(axis_z) * corner.stretch * thing.colour.w;
    return vec3f(dot(thing.row_x, at), dot(thing.row_y, at), dot(thing.row_z, at)) + along;
}

// A normal goes with the inverse of the scale.
fn world_normal(normal: vec3f, thing: Thing) -> vec3f {
    let x = vec3f(thing.row_x.x, thing.row_y.x, thing.row_z.x);
    let y = vec3f(thing.row_x.y, thing.row_y.y, thing.row_z.y);
    let z = vec3f(thing.row_x.z, thing.row_y.z, thing.row_z.z);
    return normalize(x * (normal.x / dot(x, x)) + y * (normal.y / dot(y, y)) + z * (normal.z / dot(z, z)));
}

@vertex
fn shadow_vertex(corner: Corner, thing: Thing) -> @builtin(position) vec4f {
    return globals.shadow_from_world * vec4f(world_position(corner, thing), 1.0);
}

@vertex
fn surface_vertex(corner: Corner, thing: Thing) -> Surface {
    var out: Surface;
    out.world = world_position(corner, thing);
    out.clip = globals.clip_from_world * vec4f(out.world, 1.0);
    out.normal = world_normal(corner.normal, thing);
    out.colour = thing.colour.rgb;
    out.surface = thing.surface;
    out.object = thing.object;
    return out;
}

struct Sensed {
    @location(0) depth: f32,
    @location(1) object: u32,
    @location(2) normal: vec4f,
}

@fragment
fn sensed_fragment(in: Surface) -> Sensed {
    return Sensed(dot(globals.depth_axis, vec4f(in.world, 1.0)), in.object, vec4f(normalize(in.normal), 1.0));
}

const PI: f32 = 3.14159265;

// Part of the sun that reaches a point: 1 in the light, 0 in the shadow, soft between.
fn sunlight(world: vec3f, normal: vec3f) -> f32 {
    let texel = globals.picture.z;
    // Moved off its own surface, more so where the light grazes it.
    let slope = 1.0 - max(dot(normal, globals.sun_direction.xyz), 0.0);
    let lifted = world + normal * texel * (1.0 + 2.5 * slope);
    let at = (globals.shadow_from_world * vec4f(lifted, 1.0)).xyz;
    if any(abs(at.xy) > vec2f(1.0)) || at.z > 1.0 || at.z < 0.0 {
        return 1.0;
    }
    let uv = vec2f(0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y);
    let size = 1.0 / f32(textureDimensions(shadow_map).x);
    var lit = 0.0;
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            lit += textureSampleCompareLevel(shadow_map, shadow_sampler, uv + vec2f(f32(x), f32(y)) * size, at.z);
        }
    }
    return lit / 25.0;
}

fn sky(direction: vec3f) -> vec3f {
    let up = direction.z;
    let above = mix(globals.horizon.rgb, globals.zenith.rgb, pow(clamp(up, 0.0, 1.0), 0.55));
    return mix(above, globals.ground.rgb, smoothstep(0.02, -0.12, up));
}

// Light from all around that a surface of this roughness sees about a direction.
fn ambient(direction: vec3f, roughness: f32) -> vec3f {
    let even = mix(globals.ground.rgb, mix(globals.horizon.rgb, globals.zenith.rgb, 0.5), 0.5 + 0.5 * direction.z);
    return mix(sky(direction), even, roughness);
}

fn fresnel(f0: vec3f, cosine: f32) -> vec3f {
    return f0 + (1.0 - f0) * pow(clamp(1.0 - cosine, 0.0, 1.0), 5.0);
}

@fragment
fn lit_fragment(in: Surface) -> @location(0) vec4f {
    let normal = normalize(in.normal);
    var view = normalize(globals.eye.xyz - in.world);
    if globals.picture.w > 0.5 {
        view = -globals.depth_axis.xyz;
    }
    let light = globals.sun_direction.xyz;
    let half_way = normalize(view + light);
    let n_v = max(dot(normal, view), 1e-3);
    let n_l = max(dot(normal, light), 0.0);
    let n_h = max(dot(normal, half_way), 0.0);
    let metallic = in.surface.x;
    let roughness = clamp(in.surface.y, 0.04, 1.0);
    let f0 = mix(vec3f(0.04), in.colour, metallic);
    let diffuse = in.colour * (1.0 - metallic);

    // Sunlight: Lambert, and the GGX lobe with its usual shadowing term.
    let a = roughness * roughness;
    let a2 = a * a;
    let d = n_h * n_h * (a2 - 1.0) + 1.0;
    let spread = a2 / (PI * d * d);
    let k = (roughness + 1.0) * (roughness + 1.0) / 8.0;
    let hidden = 1.0 / ((n_v * (1.0 - k) + k) * (n_l * (1.0 - k) + k) * 4.0);
    let shine = fresnel(f0, max(dot(view, half_way), 0.0));
    let direct = (diffuse * (1.0 - shine) / PI + shine * spread * hidden)
        * globals.sun_radiance.rgb * n_l * sunlight(in.world, normal);

    let grazing = f0 + (max(vec3f(1.0 - roughness), f0) - f0) * pow(1.0 - n_v, 5.0);
    let around = diffuse * ambient(normal, 1.0) * 0.5
        + grazing * ambient(reflect(-view, normal), roughness) * (1.0 - 0.5 * roughness);
    return vec4f(direct + around, 1.0);
}

struct Whole {
    @builtin(position) clip: vec4f,
    @location(0) ndc: vec2f,
}

// One triangle over the whole picture, at the far end.
@vertex
fn whole_vertex(@builtin(vertex_index) index: u32) -> Whole {
    let ndc = vec2f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    return Whole(vec4f(ndc, 0.0, 1.0), ndc);
}

struct Ray {
    origin: vec3f,
    direction: vec3f,
}

fn ray(ndc: vec2f) -> Ray {
    let near = globals.world_from_clip * vec4f(ndc, 1.0, 1.0);
    let far = globals.world_from_clip * vec4f(ndc, 0.0, 1.0);
    let origin = near.xyz / near.w;
    return Ray(origin, normalize(far.xyz / far.w - origin));
}

@fragment
fn sky_fragment(in: Whole) -> @location(0) vec4f {
    let direction = ray(in.ndc).direction;
    let towards = max(dot(direction, globals.sun_direction.xyz), 0.0);
    let glow = globals.sun_radiance.rgb * (pow(towards, 900.0) * 3.0 + pow(towards, 24.0) * 0.035);
    return vec4f(sky(direction) + glow * step(0.0, direction.z + 0.02), 1.0);
}

struct Gridded {
    @location(0) colour: vec4f,
    @builtin(frag_depth) depth: f32,
}

// How much of a pixel lies on lines so far apart.
fn lines(at: vec2f, apart: f32) -> f32 {
    let scaled = at / apart;
    let width = fwidth(scaled);
    let off = abs(fract(scaled - 0.5) - 0.5) / max(width, vec2f(1e-6));
    let fine = 1.0 - clamp(max(width.x, width.y) * 2.5, 0.0, 1.0);
    return (1.0 - min(min(off.x, off.y), 1.0)) * fine;
}

@fragment
fn grid_fragment(in: Whole) -> Gridded {
    let seen = ray(in.ndc);
    let distance = -seen.origin.z / seen.direction.z;
    let at = seen.origin + seen.direction * distance;
    let clip = globals.clip_from_world * vec4f(at, 1.0);
    let metre = lines(at.xy, 1.0);
    let ten = lines(at.xy, 10.0);
    let width = fwidth(at.xy);
    let on_axis = 1.0 - clamp(abs(at.yx) / (max(width.yx, vec2f(1e-6)) * 1.3), vec2f(0.0), vec2f(1.0));
    var colour = vec3f(0.05, 0.06, 0.07);
    colour = mix(colour, vec3f(0.75, 0.12, 0.1), on_axis.x);
    colour = mix(colour, vec3f(0.14, 0.55, 0.12), on_axis.y);
    let strength = max(max(metre * 0.35, ten * 0.6), max(on_axis.x, on_axis.y) * 0.9);
    let fade = exp(-length(at.xy - globals.eye.xy) * 0.035);
    let visible = select(0.0, 1.0, distance > 0.0);
    return Gridded(vec4f(colour, strength * fade * visible), clamp(clip.z / clip.w, 0.0, 1.0) * visible);
}

struct Stroke {
    @location(0) from_width: vec4f,
    @location(1) to: vec4f,
    @location(2) colour: vec4f,
}

struct Stroked {
    @builtin(position) clip: vec4f,
    @location(0) colour: vec3f,
}

// A quad of so many pixels around the line.
@vertex
fn line_vertex(@builtin(vertex_index) index: u32, stroke: Stroke) -> Stroked {
    let begin = globals.clip_from_world * vec4f(stroke.from_width.xyz, 1.0);
    let end = globals.clip_from_world * vec4f(stroke.to.xyz, 1.0);
    let size = globals.picture.xy;
    let along = (end.xy / max(end.w, 1e-4) - begin.xy / max(begin.w, 1e-4)) * size;
    let direction = select(vec2f(1.0, 0.0), normalize(along), dot(along, along) > 1e-12);
    let across = vec2f(-direction.y, direction.x) * stroke.from_width.w / size;
    let far_end = index == 1u || index == 2u || index == 4u;
    let upper = index == 2u || index == 4u || index == 5u;
    var clip = select(begin, end, far_end);
    clip = vec4f(clip.xy + across * select(-1.0, 1.0, upper) * clip.w, clip.z + 1e-5 * clip.w, clip.w);
    return Stroked(clip, stroke.colour.rgb);
}

@fragment
fn line_fragment(in: Stroked) -> @location(0) vec4f {
    return vec4f(in.colour, 1.0);
}
