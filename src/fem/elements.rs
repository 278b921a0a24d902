//! The elements of a soft body: their shapes at rest, which blocks they write, their mass.

use std::fmt;

use super::mass::consistent_mass;
use super::operand::Vector3;
use super::tetrahedron::Tetrahedron;
use crate::ad::Real;
use crate::linalg::BlockPattern;

/// The linear tetrahedra of a mesh at rest. Data: nothing differentiates in it.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    nodes: Vec<[usize; 4]>,
    shapes: Vec<Tetrahedron>,
    pattern: BlockPattern,
    /// Of each element where its 16 blocks stand, row by row.
    places: Vec<[usize; 16]>,
    /// Mass for density 1 (m³), in the order of the blocks; and that of a node with all others.
    unit_mass: Vec<f64>,
    unit_weight: Vec<f64>,
}

/// Elements that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementError {
    /// This element names a node that is not there.
    NoSuchNode(usize),
    /// This element has no positive volume, or one that is not finite.
    Volume(usize),
    /// This node is of no element, so that it has no mass.
    Unused(usize),
}

impl fmt::Display for ElementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementError::NoSuchNode(k) => write!(f, "element {k} names a node that is not there"),
            ElementError::Volume(k) => write!(f, "element {k} is flat or turned inside out"),
            ElementError::Unused(k) => write!(f, "node {k} is of no element"),
        }
    }
}

impl std::error::Error for ElementError {}

impl Elements {
    /// From nodes (m) and the four of each element, which are counted from 0.
    ///
    /// # Errors
    /// If they are no elements of positive volume, or a node is of none.
    pub fn new(x: &[Vector3<f64>], tetrahedra: &[[usize; 4]]) -> Result<Elements, ElementError> {
        let mut used = vec![false; x.len()];
        let mut shapes = Vec::with_capacity(tetrahedra.len());
        for (k, nodes) in tetrahedra.iter().enumerate() {
            if nodes.iter().any(|&node| node >= x.len()) {
                return Err(ElementError::NoSuchNode(k));
            }
            nodes.iter().for_each(|&node| used[node] = true);
            let shape = Tetrahedron::new(nodes.map(|node| x[node]));
            let finite = shape.gradients.iter().flatten().all(|x| x.is_finite());
            if !(shape.volume > 0.0 && shape.volume.is_finite() && finite) {
                return Err(ElementError::Volume(k));
            }
            shapes.push(shape);
        }
        if let Some(unused) = used.iter().position(|used| !used) {
            return Err(ElementError::Unused(unused));
        }
        let mut elements = Elements { nodes: tetrahedra.to_vec(), shapes, ..Elements::default() };
        elements.couple(x.len(), &[]);
        Ok(elements)
    }

    /// Couples nodes in the pattern of matrices as if they were of one element, those of each list.
    pub fn coupling(mut self, lists: &[Vec<usize>]) -> Elements {
        self.couple(self.node_count(), lists);
        self
    }

    fn couple(&mut self, count: usize, lists: &[Vec<usize>]) {
        let Elements { nodes: tetrahedra, shapes, .. } = &*self;
        let known = |list: &&Vec<usize>| list.iter().all(|&node| node < count);
        let lists = lists.iter().filter(known).map(Vec::as_slice);
        let pattern =
            BlockPattern::new(count, tetrahedra.iter().map(<[usize; 4]>::as_slice).chain(lists));
        let place = |nodes: &[usize; 4], k: usize| pattern.find(nodes[k / 4], nodes[k % 4]);
        let places: Vec<[usize; 16]> = tetrahedra
            .iter()
            .map(|nodes| std::array::from_fn(|k| place(nodes, k).unwrap_or_default()))
            .collect();
        let (mut unit_mass, mut unit_weight) = (vec![0.0; pattern.blocks()], vec![0.0; count]);
        for ((nodes, places), shape) in tetrahedra.iter().zip(&places).zip(shapes) {
            let mass = consistent_mass(shape);
            for (k, &place) in places.iter().enumerate() {
                unit_mass[place] += mass[k / 4][k % 4];
                unit_weight[nodes[k / 4]] += mass[k / 4][k % 4];
            }
        }
        (self.pattern, self.places) = (pattern, places);
        (self.unit_mass, self.unit_weight) = (unit_mass, unit_weight);
    }

    /// How many nodes.
    pub fn node_count(&self) -> usize {
        self.unit_weight.len()
    }

    /// The nodes of each element.
    pub fn nodes(&self) -> &[[usize; 4]] {
        &self.nodes
    }

    /// The shape of each element.
    pub fn shapes(&self) -> &[Tetrahedron] {
        &self.shapes
    }

    /// Which blocks matrices have.
    pub fn pattern(&self) -> &BlockPattern {
        &self.pattern
    }

    /// Where the 16 blocks of each element stand, row by row.
    pub(super) fn places(&self) -> &[[usize; 16]] {
        &self.places
    }

    /// M for density 1 (m³): what stands on the diagonal of each block.
    pub fn unit_mass(&self) -> &[f64] {
        &self.unit_mass
    }

    /// M (1, 1, ..) for density 1 (m³): the volume that a node stands for. The sum is the whole volume.
    pub fn unit_weight(&self) -> &[f64] {
        &self.unit_weight
    }

    /// y += density M x for density 1 (m³ and what x is in)
    pub fn add_mass_product<T: Real>(&self, density: T, x: &[Vector3<T>], y: &mut [Vector3<T>]) {
        for (row, y) in y.iter_mut().enumerate().take(self.node_count()) {
            let sum = self.mass_row(row, |node| x[node]);
            (0..3).for_each(|k| y[k] += density * sum[k]);
        }
    }

    /// Row `row` of M x for density 1, where `x` says what stands at a node.
    pub(crate) fn mass_row<T: Real>(
        &self,
        row: usize,
        x: impl Fn(usize) -> Vector3<T>,
    ) -> Vector3<T> {
        let mut sum = [T::zero(); 3];
        for (column, at) in self.pattern.row(row) {
            let x = x(column);
            (0..3).for_each(|k| sum[k] += x[k] * self.unit_mass[at]);
        }
        sum
    }
}

/// What stands at the nodes of an element.
#[inline(always)]
pub(super) fn gather<T: Copy>(nodes: &[usize; 4], x: &[Vector3<T>]) -> [Vector3<T>; 4] {
    nodes.map(|node| x[node])
}
