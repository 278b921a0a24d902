//! Colourings: which columns, rows or variables may share a direction.
//!
//! All are greedy: vertices in some order, each with the first colour that is allowed. Two orders are
//! tried, as they come and largest degree first; as they come is best possible where the pattern is a
//! band, along a trajectory. Nothing is random, so the same pattern has the same colours.

use std::cmp::Reverse;

use super::Pattern;

/// No colour: of what has no entries, and needs none.
const NONE: u32 = u32::MAX;

/// A colour, 0, 1, ..., for each column, row or variable that has entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloring {
    colors: Vec<u32>,
    count: usize,
}

impl Coloring {
    /// Of the columns, so that no row has entries in two columns of one colour: columns at distance 2
    /// in the bipartite graph of rows and columns differ (`Gebremedhin05` 3.4).
    ///
    /// There are at least as many colours as the longest row has entries. Block-tridiagonal patterns
    /// get that: three times the size of a block.
    pub fn of_columns(pattern: &Pattern) -> Coloring {
        let rows_of = pattern.transpose();
        let natural = distance_two(pattern, &rows_of, 0..pattern.columns());
        if natural.count == pattern.longest_row() {
            return natural;
        }
        let degrees = distance_two_degrees(pattern, &rows_of);
        natural.or(distance_two(pattern, &rows_of, largest_first(&degrees)))
    }

    /// Of the rows, so that no column has entries in two rows of one colour.
    pub fn of_rows(pattern: &Pattern) -> Coloring {
        Self::of_columns(&pattern.transpose())
    }

    /// Of the variables of a symmetric pattern, so that neighbours differ and every path of four has
    /// three colours: two colours always form stars, so every entry off the diagonal stands alone in
    /// a sum of columns, its own or that of its mirror image (`Coleman84`; Algorithm 4.1 of
    /// `Gebremedhin07`).
    ///
    /// Of a pattern that is not symmetric, entries with no mirror image are ignored.
    ///
    /// Block-tridiagonal patterns get three times the size of a block, as few as there can be for
    /// four blocks or more: if a colour recurs two blocks on, none of the block between may, so three
    /// blocks in a row differ. Acyclic colourings, with two thirds of that, would recover entries by
    /// substitution from one end of the trajectory to the other, with all rounding errors on the way.
    pub fn star(pattern: &Pattern) -> Coloring {
        let graph = Graph::of(pattern);
        let natural = graph.star_coloring(0..graph.len());
        let degrees: Vec<_> = (0..graph.len()).map(|v| graph.neighbours[v].len()).collect();
        natural.or(graph.star_coloring(largest_first(&degrees)))
    }

    /// How many colours there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The colour of the k-th column, row or variable; none if it has no entries.
    pub fn color(&self, k: usize) -> Option<usize> {
        self.colors.get(k).filter(|&&color| color != NONE).map(|&color| color as usize)
    }

    fn new(colors: Vec<u32>) -> Self {
        let used = colors.iter().filter(|&&color| color != NONE);
        let count = used.max().map_or(0, |&last| last as usize + 1);
        Coloring { colors, count }
    }

    /// The one with fewer colours; of as many this one.
    fn or(self, other: Self) -> Self {
        if other.count < self.count { other } else { self }
    }
}

fn largest_first(degrees: &[usize]) -> impl Iterator<Item = usize> {
    let mut order: Vec<usize> = (0..degrees.len()).collect();
    // Stable: of equal degrees as they come.
    order.sort_by_key(|&v| Reverse(degrees[v]));
    order.into_iter()
}

/// Colours that the vertex at hand may not have. Marks of earlier vertices do not count, so nothing
/// is cleared.
struct Forbidden(Vec<u32>);

impl Forbidden {
    /// Of `vertices` vertices no one needs more than that many colours.
    fn for_vertices(vertices: usize) -> Self {
        Forbidden(vec![NONE; vertices])
    }

    fn forbid(&mut self, color: u32, vertex: usize) {
        if color != NONE {
            self.0[color as usize] = vertex as u32;
        }
    }

    fn first_allowed(&self, vertex: usize) -> u32 {
        let allowed = self.0.iter().position(|&mark| mark != vertex as u32);
        allowed.unwrap_or(self.0.len()) as u32
    }
}

fn distance_two(
    pattern: &Pattern,
    rows_of: &Pattern,
    order: impl Iterator<Item = usize>,
) -> Coloring {
    let mut colors = vec![NONE; pattern.columns()];
    let mut forbidden = Forbidden::for_vertices(pattern.columns());
    for column in order {
        let rows = rows_of.row(column);
        if rows.is_empty() {
            continue;
        }
        for &row in rows {
            for &other in pattern.row(row as usize) {
                forbidden.forbid(colors[other as usize], column);
            }
        }
        colors[column] = forbidden.first_allowed(column);
    }
    Coloring::new(colors)
}

/// With how many columns each shares a row, itself included.
fn distance_two_degrees(pattern: &Pattern, rows_of: &Pattern) -> Vec<usize> {
    let mut seen = vec![NONE; pattern.columns()];
    let mut degree = |column: usize| {
        let mut degree = 0;
        for &row in rows_of.row(column) {
            for &other in pattern.row(row as usize) {
                if seen[other as usize] != column as u32 {
                    seen[other as usize] = column as u32;
                    degree += 1;
                }
            }
        }
        degree
    };
    (0..pattern.columns()).map(&mut degree).collect()
}

/// The graph of a symmetric pattern, without its diagonal.
struct Graph {
    /// The neighbours of each vertex, with the number of the edge.
    neighbours: Vec<Vec<(usize, usize)>>,
    edges: usize,
    /// Vertices with an entry on the diagonal and no neighbour need a colour too.
    alone: Vec<bool>,
}

impl Graph {
    fn of(pattern: &Pattern) -> Graph {
        let n = pattern.rows();
        let mut graph = Graph { neighbours: vec![Vec::new(); n], edges: 0, alone: vec![false; n] };
        for (i, j) in pattern.iter() {
            if i == j {
                graph.alone[i] = true;
            } else if i < j && pattern.contains(j, i) {
                graph.neighbours[i].push((j, graph.edges));
                graph.neighbours[j].push((i, graph.edges));
                graph.edges += 1;
            }
        }
        graph
    }

    fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// Any two colours form stars. Each edge belongs to one; a star of one edge has no hub yet.
    fn star_coloring(&self, order: impl Iterator<Item = usize>) -> Coloring {
        const NOWHERE: usize = usize::MAX;
        let mut colors = vec![NONE; self.len()];
        let mut forbidden = Forbidden::for_vertices(self.len());
        let mut star_of: Vec<usize> = (0..self.edges).collect();
        let mut hub_of = vec![NOWHERE; self.edges];
        // The first neighbour found of each colour, with its edge: of which vertex, and which.
        let mut first_of = vec![(NOWHERE, NOWHERE, NOWHERE); self.len()];
        let mut treated = vec![NOWHERE; self.len()];
        for v in order {
            if self.neighbours[v].is_empty() && !self.alone[v] {
                continue;
            }
            for &(w, edge) in &self.neighbours[v] {
                let color = colors[w];
                if color == NONE {
                    continue;
                }
                forbidden.forbid(color, v);
                let (of, first, _) = first_of[color as usize];
                if of == v {
                    // Two neighbours of one colour: v is a hub between them, and none of their other
                    // neighbours may have its colour.
                    for q in [first, w] {
                        if treated[q] != v {
                            treated[q] = v;
                            for &(x, _) in &self.neighbours[q] {
                                forbidden.forbid(colors[x], v);
                            }
                        }
                    }
                } else {
                    first_of[color as usize] = (v, w, edge);
                    // Where w is a leaf, v must not prolong the path over it to its hub.
                    for &(x, edge) in &self.neighbours[w] {
                        if x != v && colors[x] != NONE && hub_of[star_of[edge]] == x {
                            forbidden.forbid(colors[x], v);
                        }
                    }
                }
            }
            colors[v] = forbidden.first_allowed(v);
            for &(w, edge) in &self.neighbours[v] {
                if colors[w] == NONE {
                    continue;
                }
                let twin =
                    self.neighbours[w].iter().find(|(x, _)| *x != v && colors[*x] == colors[v]);
                if let Some(&(_, other)) = twin {
                    star_of[edge] = star_of[other];
                    hub_of[star_of[other]] = w;
                    continue;
                }
                let (of, first, other) = first_of[colors[w] as usize];
                if of == v && first != w {
                    star_of[edge] = star_of[other];
                    hub_of[star_of[other]] = v;
                }
            }
        }
        Coloring::new(colors)
    }
}
