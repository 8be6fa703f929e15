//! OBJ and the materials of its MTL. Faces are cut into fans, so they must be convex. Curves, points, lines, texture
//! coordinates and textures are not read.

use std::collections::HashMap;

use glam::Vec3;

use super::ModelError;
use super::lines::{Line, lines};
use super::part::RawPart;
use super::reading::{Reading, shortened};
use crate::packet::Material;

pub(super) fn read(reading: &mut Reading<'_>, bytes: &[u8]) -> Result<(), ModelError> {
    let file = reading.file_name().to_owned();
    let mut object = Object::default();
    object.part.name = reading.default_name();
    let mut materials = HashMap::new();
    for line in lines(&file, bytes) {
        match line.keyword() {
            "v" => object.positions.push(line.vector()?),
            "vn" => object.normals.push(line.vector()?),
            "f" => object.face(&line, reading)?,
            "o" | "g" => {
                object.finish(reading)?;
                object.part.name = line.rest().to_owned();
            }
            "usemtl" => {
                object.finish(reading)?;
                let named = materials.get(line.rest());
                object.part.material = *named.ok_or_else(|| {
                    line.malformed(format!("no material library has `{}`", shortened(line.rest())))
                })?;
            }
            // Windows writes its own separators.
            "mtllib" => read_materials(reading, &line.rest().replace('\\', "/"), &mut materials)?,
            _ => {}
        }
    }
    object.finish(reading)
}

/// What has been read so far, and the part under construction.
#[derive(Default)]
struct Object {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    part: RawPart,
    /// Which corner of the part a pair of position and normal has become.
    corners: HashMap<(usize, Option<usize>), u32>,
}

impl Object {
    fn face(&mut self, line: &Line<'_>, reading: &Reading<'_>) -> Result<(), ModelError> {
        let mut fan = Vec::new();
        for word in line.words() {
            let corner = self.corner(line, word)?;
            fan.push(corner);
        }
        if fan.len() < 3 {
            return Err(line.malformed(format!("a face has at least 3 corners, this one {}", fan.len())));
        }
        for side in fan[1..].windows(2) {
            self.part.indices.extend([fan[0], side[0], side[1]]);
        }
        reading.check_triangles(self.part.indices.len() / 3)
    }

    /// The corner of the part that `7`, `7/8`, `7//9` or `7/8/9` says: position, texture coordinate and normal.
    fn corner(&mut self, line: &Line<'_>, word: &str) -> Result<u32, ModelError> {
        let mut fields = word.split('/');
        let position = fields.next().unwrap_or_default();
        let position = resolve(line, "vertex", position, self.positions.len())?;
        let normal = match fields.nth(1).filter(|normal| !normal.is_empty()) {
            Some(normal) => Some(resolve(line, "normal", normal, self.normals.len())?),
            None => None,
        };
        let next = self.part.positions.len() as u32;
        let corner = *self.corners.entry((position, normal)).or_insert(next);
        if corner == next {
            self.part.positions.push(self.positions[position]);
            // A corner without a normal leaves the part with none.
            self.part.normals.extend(normal.map(|normal| self.normals[normal]));
        }
        Ok(corner)
    }

    /// Hands the part over and begins one that has its name and material.
    fn finish(&mut self, reading: &mut Reading<'_>) -> Result<(), ModelError> {
        if self.part.indices.is_empty() {
            return Ok(());
        }
        let next =
            RawPart { name: self.part.name.clone(), material: self.part.material, ..RawPart::default() };
        self.corners.clear();
        reading.add(std::mem::replace(&mut self.part, next))
    }
}

/// Which of `count` is meant: they are counted from 1, or backwards from -1.
fn resolve(line: &Line<'_>, what: &str, word: &str, count: usize) -> Result<usize, ModelError> {
    let number: i64 =
        word.parse().map_err(|_| line.malformed(format!("`{}` names no {what}", shortened(word))))?;
    let index = if number < 0 { (count as i64).checked_add(number) } else { number.checked_sub(1) };
    index
        .and_then(|index| usize::try_from(index).ok())
        .filter(|index| *index < count)
        .ok_or_else(|| line.malformed(format!("there is no {what} {number}, only {count} before this line")))
}

fn read_materials(
    reading: &mut Reading<'_>,
    target: &str,
    materials: &mut HashMap<String, Material>,
) -> Result<(), ModelError> {
    let (file, bytes) = reading.file_beside(target)?;
    let mut current: Option<&mut Material> = None;
    for line in lines(&file, &bytes) {
        let orphan = || line.malformed("a material begins with `newmtl`");
        let factor = || Ok::<_, ModelError>(line.number(&mut line.words())?.clamp(0.0, 1.0));
        match line.keyword() {
            "newmtl" => {
                let material = materials.entry(line.rest().to_owned()).or_default();
                *material = Material::default();
                current = Some(material);
            }
            "Kd" => {
                let colour = line.vector()?.clamp(Vec3::ZERO, Vec3::ONE);
                current.as_mut().ok_or_else(orphan)?.base_colour = colour;
            }
            "Pm" => current.as_mut().ok_or_else(orphan)?.metallic = factor()?,
            "Pr" => current.as_mut().ok_or_else(orphan)?.roughness = factor()?,
            _ => {}
        }
    }
    Ok(())
}
