//! In which order to eliminate the nodes of a sparse matrix of blocks: approximate minimum degree (`Amestoy96`), as the
//! crate `amd` has it.

use super::block_matrix::BlockPattern;

/// An order of the nodes with little fill, in which those of `last` come last, in their order.
pub(super) fn fill_reducing(pattern: &BlockPattern, last: &[usize]) -> Vec<usize> {
    let mut own = vec![Some(0); pattern.nodes()];
    last.iter().for_each(|&node| own[node] = None);
    let mut nodes = Vec::new();
    for (node, own) in own.iter_mut().enumerate() {
        if own.is_some() {
            *own = Some(nodes.len());
            nodes.push(node);
        }
    }
    // The graph of the others among themselves.
    let (mut starts, mut columns) = (vec![0_i64], Vec::new());
    for &node in &nodes {
        columns.extend(pattern.row(node).filter_map(|(column, _)| own[column]).map(|c| c as i64));
        starts.push(columns.len() as i64);
    }
    let ordered = amd::order(nodes.len() as i64, &starts, &columns, &amd::Control::default());
    let mut order = match ordered {
        Ok((order, _, _)) => order.into_iter().map(|k| nodes[k as usize]).collect(),
        // It refuses what is no matrix; any order will do.
        Err(_) => nodes,
    };
    order.extend_from_slice(last);
    order
}
