"""Draws docs/export.png from an exported run alone: what a reader of the file sees, without the engine.

    cargo run --release --package downbeat-tests --bin export -- arm 40000 arm.mcap
    pip install mcap==1.6.0 mcap-protobuf-support==0.6.0 matplotlib==3.11.2
    python docs/export_picture.py arm.mcap docs/export.png [SECONDS]

On the left the scene at that time, from /scene and /tf; on the right /joints, /time, /commands and /hashes over time.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

PAPER, INK, DIM, LINE = "#0d1117", "#e6edf3", "#8b949e", "#21262d"
JOINTS = ["#ff9f45", "#ffd166", "#7bdff2", "#4ea8de", "#b79ced", "#f786aa"]
EYE, TARGET, LIGHT = np.array([2.04, -1.58, 1.46]), np.array([0.36, 0.0, 0.395]), np.array([0.45, -0.62, 1.0])


def read(path):
    """Every message by topic, each with its time in seconds."""
    topics = {}
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages():
            topics.setdefault(channel.topic, []).append((message.log_time / 1e9, decoded))
    return topics


def matrix(position, turn):
    """A pose as a matrix."""
    x, y, z, w = turn.x, turn.y, turn.z, turn.w
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), position.x],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), position.y],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), position.z],
        [0, 0, 0, 1],
    ])


def frames_in_world(message):
    """Where every frame is, through all that it hangs on."""
    edges = {t.child_frame_id: (t.parent_frame_id, matrix(t.translation, t.rotation)) for t in message.transforms}

    def placed(frame):
        parent, edge = edges.get(frame, (None, np.eye(4)))
        return edge if parent is None else placed(parent) @ edge

    return {frame: placed(frame) for frame in edges}


def sphere(rings=20, sectors=40):
    v, u = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, sectors + 1), indexing="ij")
    return grid(np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), -np.cos(v)], -1) / 2)


def cylinder(bottom, top, sectors=48):
    u = np.linspace(0, 2 * np.pi, sectors + 1)
    ring = lambda scale, z: np.stack([scale * np.cos(u) / 2, scale * np.sin(u) / 2, np.full_like(u, z)], -1)
    return grid(np.stack([ring(0, -0.5), ring(bottom, -0.5), ring(top, 0.5), ring(0, 0.5)]))


def cube():
    faces = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
            face = np.insert(corners if side > 0 else corners[::-1], axis, side, axis=1)
            faces += [face[[0, 1, 2]], face[[0, 2, 3]]]
    return np.array(faces)


def grid(points):
    """Triangles between neighbours of a grid of points."""
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    quads = np.concatenate([np.stack([a, b, c], -2), np.stack([a, c, d], -2)])
    return quads.reshape(-1, 3, 3)


def triangles_of(update, frames):
    """All that is to be seen, as triangles in the world, with smooth normals for what is round."""
    parts = []

    def add(frame, primitive, mesh, size=None, round_=False):
        place = frame @ matrix(primitive.pose.position, primitive.pose.orientation)
        scale = np.array([size.x, size.y, size.z]) if size else np.ones(3)
        points = (mesh * scale) @ place[:3, :3].T + place[:3, 3]
        flat = np.cross(mesh[:, 1] * scale - mesh[:, 0] * scale, mesh[:, 2] * scale - mesh[:, 0] * scale)
        normals = np.repeat(flat[:, None], 3, axis=1)
        if round_ == "sphere":
            normals = mesh
        elif round_ == "side":
            side = np.abs(mesh[:, :, 2].max(1) - mesh[:, :, 2].min(1)) > 0.5
            normals = np.where(side[:, None, None], mesh * [1, 1, 0], normals)
        normals = normals @ place[:3, :3].T
        normals = normals / np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-9)
        color = primitive.color
        parts.append((points, normals, np.tile([color.r, color.g, color.b, color.a], (len(points), 1))))

    for entity in update.entities:
        frame = frames[entity.frame_id]
        for primitive in entity.cubes:
            add(frame, primitive, cube(), primitive.size)
        for primitive in entity.spheres:
            add(frame, primitive, sphere(), primitive.size, "sphere")
        for primitive in entity.cylinders:
            add(frame, primitive, cylinder(primitive.bottom_scale, primitive.top_scale), primitive.size, "side")
        for primitive in entity.triangles:
            corners = np.array([[point.x, point.y, point.z] for point in primitive.points])
            add(frame, primitive, corners[np.array(primitive.indices).reshape(-1, 3)])
    return [np.concatenate(column) for column in zip(*parts)]


def look_at(eye, target, up=(0, 0, 1)):
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    turn = np.stack([right, np.cross(back, right), back])
    view = np.eye(4)
    view[:3, :3], view[:3, 3] = turn, -turn @ eye
    return view


def project(points, view, lens, width, height):
    """Pixels, and depth along the view. Without a lens, in parallel."""
    seen = points @ view[:3, :3].T + view[:3, 3]
    depth = -seen[..., 2]
    scale = (lens / np.maximum(depth, 0.05)) if lens else np.full_like(depth, 1 / 1.3)
    pixels = np.stack([seen[..., 0], -seen[..., 1]], -1) * scale[..., None] * height / 2
    return pixels + [width / 2, height / 2], depth


def rasterise(points, view, lens, width, height):
    """For every pixel, the nearest triangle, its depth, and how far along its edges it is."""
    pixels, depths = project(points, view, lens, width, height)
    nearest, which = np.full((height, width), np.inf), np.full((height, width), -1)
    weights = np.zeros((height, width, 3))
    for index, (corner, depth) in enumerate(zip(pixels, depths)):
        if depth.min() <= 0.05:
            continue
        low = np.clip(np.floor(corner.min(0)).astype(int), 0, [width, height])
        high = np.clip(np.ceil(corner.max(0)).astype(int) + 1, 0, [width, height])
        edge1, edge2 = corner[1] - corner[0], corner[2] - corner[0]
        area = edge1[0] * edge2[1] - edge1[1] * edge2[0]
        if abs(area) < 1e-9 or (high <= low).any():
            continue
        x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
        x, y = x - corner[0, 0], y - corner[0, 1]
        b, c = (x * edge2[1] - y * edge2[0]) / area, (y * edge1[0] - x * edge1[1]) / area
        bary = np.stack([1 - b - c, b, c], -1)
        inside = (bary >= -1e-6).all(-1)
        if lens:
            bary = bary / depth
            bary = bary / bary.sum(-1, keepdims=True)
        z = bary @ depth
        patch = (slice(low[1], high[1]), slice(low[0], high[0]))
        closer = inside & (z < nearest[patch])
        nearest[patch][closer], which[patch][closer], weights[patch][closer] = z[closer], index, bary[closer]
    return nearest, which, weights


def cut(points, normals, colours):
    """The ground reaches behind the eye; only what is before it can be drawn."""
    floor = (np.ptp(points, axis=(1,)) > 5).any(1)
    u = np.linspace(-3.2, 3.2, 33)
    x, y = np.meshgrid(u, u, indexing="ij")
    tiles = grid(np.stack([x, y, np.zeros_like(x)], -1)) if floor.any() else np.zeros((0, 3, 3))
    up = np.tile([0.0, 0.0, 1.0], (len(tiles), 3, 1))
    grey = np.tile([0.10, 0.12, 0.15, 1.0], (len(tiles), 1))
    return (np.concatenate([points[~floor], tiles]), np.concatenate([normals[~floor], up]),
            np.concatenate([colours[~floor], grey]))


def picture(update, frames, width, height, lens):
    """The scene with one light and its shadow."""
    points, normals, colours = cut(*triangles_of(update, frames))
    _, which, weights = rasterise(points, look_at(EYE, TARGET), lens, width, height)
    there = which >= 0
    place = np.einsum("pk,pkc->pc", weights[there], points[which[there]])
    normal = np.einsum("pk,pkc->pc", weights[there], normals[which[there]])
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-9)
    toward_eye = EYE - place
    toward_eye /= np.linalg.norm(toward_eye, axis=-1, keepdims=True)
    normal *= np.where((normal * toward_eye).sum(-1, keepdims=True) < 0, -1, 1)
    light = LIGHT / np.linalg.norm(LIGHT)

    size = 1400
    from_light = look_at(TARGET + 4 * light, TARGET)
    shadow, _, _ = rasterise(points, from_light, None, size, size)
    spot, depth = project(place + normal * 0.004, from_light, None, size, size)
    lit = np.zeros(len(place))
    offsets = [(dx, dy) for dx in (-3, -1, 1, 3) for dy in (-3, -1, 1, 3)]
    for offset in offsets:
        column, row = np.clip((spot + offset).astype(int), 0, size - 1).T
        lit += (shadow[row, column] > depth - 0.006) / len(offsets)

    diffuse = np.clip(normal @ light, 0, 1) * lit
    half = light + toward_eye
    half /= np.linalg.norm(half, axis=-1, keepdims=True)
    gloss = np.clip((normal * half).sum(-1), 0, 1) ** 40 * lit * 0.16
    sky = 0.17 + 0.10 * normal[:, 2]
    linear = colours[which[there], :3] ** 2.2
    shaded = linear * (sky + 0.84 * diffuse)[:, None] + gloss[:, None]
    # Lines on the floor every half metre, and mist where it ends.
    floor = place[:, 2] < 1e-3
    off = np.abs((place[:, :2] + 0.25) % 0.5 - 0.25).min(1)
    shaded[floor] += (0.035 * np.clip(1 - off / 0.006, 0, 1))[floor][:, None]
    paper = np.array([int(PAPER[i:i + 2], 16) / 255 for i in (1, 3, 5)]) ** 2.2
    mist = np.clip((np.linalg.norm(place[:, :2] - TARGET[:2], axis=1) - 0.9) / 1.9, 0, 1)[:, None]
    mist = np.where(floor[:, None], mist * mist * (3 - 2 * mist), 0)
    image = np.tile(paper, (height, width, 1))
    image[there] = shaded * (1 - mist) + paper * mist
    # The floor ends before the plots begin.
    fade = np.tile(np.clip((np.linspace(1, 0, width) - 0.015) / 0.16, 0, 1)[:, None], (height, 1, 1))
    fade[there] = np.where(floor[:, None], fade[there], 1)
    image = paper + (image - paper) * fade
    image = image.reshape(height // 2, 2, width // 2, 2, 3).mean((1, 3))
    return np.clip(image, 0, 1) ** (1 / 2.2)


def styled(axes, title):
    axes.set_facecolor(PAPER)
    axes.tick_params(colors=DIM, labelsize=9, length=0, pad=5)
    axes.grid(color=LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(title, loc="left", color=INK, fontsize=11.5, pad=9, fontweight="bold")


def plots(figure, topics, moment):
    """What there is to plot, over the time of the run."""
    joints = topics["/joints"]
    times = np.array([time for time, _ in joints])
    names = [joint.name for joint in joints[0][1].joints]
    values = np.array([[joint.position for joint in message.joints] for _, message in joints])
    left, width, end = 0.642, 0.333, times[-1]
    span = (max(0, moment - 11), min(end, moment + 9))

    hinges = figure.add_axes([left, 0.505, width, 0.355])
    styled(hinges, "/joints   hinges, rad")
    for index, name in enumerate(names[:6]):
        # The hand turns back what the base has turned: dashes let both be seen.
        dashes = (0, (4, 3)) if index == 5 else "-"
        hinges.plot(times, values[:, index], color=JOINTS[index], linewidth=1.8, linestyle=dashes, label=name)
    hinges.legend(loc="lower left", bbox_to_anchor=(-0.02, -0.165), ncols=6, frameon=False, fontsize=9,
                  labelcolor=DIM, handlelength=1.1, handletextpad=0.5, columnspacing=1.0)
    fingers = figure.add_axes([left, 0.27, width, 0.105])
    styled(fingers, "/joints   gripper opening, mm")
    opening = values[:, 6:8].sum(1) * 1e3
    fingers.fill_between(times, opening, color="#3fb950", alpha=0.18, linewidth=0)
    fingers.plot(times, opening, color="#3fb950", linewidth=1.7)
    fingers.set_ylim(0, 100)
    marks = figure.add_axes([left, 0.105, width, 0.075])
    styled(marks, "/commands and /hashes   when they were written")
    rows = [("/hashes", 0, "#8b949e", 0.9), ("/commands", 1, "#ff7b72", 1.8)]
    for topic, row, colour, thick in rows:
        marks.vlines([time for time, _ in topics.get(topic, [])], row - 0.34, row + 0.34, color=colour, linewidth=thick)
    marks.set_yticks([0, 1], ["hashes", "commands"])
    marks.set_ylim(-0.6, 1.6)
    marks.grid(visible=False, axis="y")
    marks.set_xlabel("simulation time, s", color=DIM, fontsize=9.5, labelpad=6)
    for axes in (hinges, fingers, marks):
        axes.set_xlim(*span)
        axes.set_xticks(np.arange(np.ceil(span[0] / 5) * 5, span[1] + 0.01, 5))
        axes.axvline(moment, color=INK, linewidth=1.0, alpha=0.75)
        if axes is not marks:
            axes.tick_params(labelbottom=False)


def main(source, target, moment):
    topics = read(source)
    time, message = min(topics["/tf"], key=lambda row: abs(row[0] - moment))
    update = [update for at, update in topics["/scene"] if at <= time][-1]
    frames = frames_in_world(message)
    width, height, lens = 950, 900, 2.0

    figure = plt.figure(figsize=(16, 9), dpi=100, facecolor=PAPER)
    axes = figure.add_axes([0, 0, width / 1600, 1])
    axes.imshow(picture(update, frames, 2 * width, 2 * height, lens), extent=(0, width, height, 0))
    trail = [(at, frames_in_world(tf)["tool"][:3, 3]) for at, tf in topics["/tf"] if time - 4.5 <= at <= time]
    pixels, _ = project(np.array([place for _, place in trail]), look_at(EYE, TARGET), lens, width, height)
    for index in range(1, len(pixels)):
        axes.plot(*pixels[index - 1:index + 1].T, color="#7bdff2", linewidth=2.2, solid_capstyle="round",
                  alpha=0.9 * (index / len(pixels)) ** 1.6)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")

    runners = ", ".join(f"{r.name} {r.index}" for r in min(topics["/time"], key=lambda row: abs(row[0] - time))[1].runners)
    figure.text(0.027, 0.935, "A run as an MCAP file", color=INK, fontsize=21, fontweight="bold")
    figure.text(0.027, 0.900, f"/scene and /tf at {time:.2f} s, with the tool's path over the last 4.5 s", color=DIM, fontsize=11.5)
    figure.text(0.027, 0.040, f"/time   {runners}", color=DIM, fontsize=10.5, family="monospace")
    plots(figure, topics, time)
    figure.savefig(target, facecolor=PAPER)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 13.6)
