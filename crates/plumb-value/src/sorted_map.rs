//! A map whose entries form one sorted array.

use std::borrow::Borrow;
use std::fmt;
use std::iter::Map;
use std::ops::Index;
use std::slice;

use ecow::EcoVec;

/// A map that keeps its entries in an array sorted by key.
///
/// Most maps of a deployment are small, because resources have few properties, and few of them are ever changed. Inserting
/// anywhere but at the end moves the entries after it. Clones share the entries until one of the clones is changed.
#[derive(Clone, PartialEq, Eq)]
pub struct SortedMap<K, V>(EcoVec<(K, V)>);

impl<K, V> SortedMap<K, V> {
    /// An empty map.
    pub const fn new() -> Self {
        SortedMap(EcoVec::new())
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        self.0.iter().map(|(key, _)| key)
    }

    /// Values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<K: Clone, V: Clone> SortedMap<K, V> {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Entries in the order of their keys, with mutable values.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        self.0
            .make_mut()
            .iter_mut()
            .map(|(key, value)| (&*key, value))
    }

    /// Mutable values in the order of their keys.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.0.make_mut().iter_mut().map(|(_, value)| value)
    }

    /// Keeps the entries for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, wanted: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(key, _)| key.borrow().cmp(wanted))
    }

    /// The value at `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// Whether there is an entry for `key`.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }
}

impl<K: Ord + Clone, V: Clone> SortedMap<K, V> {
    /// The value at `key`, mutable.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| &mut self.0.make_mut()[at].1)
    }

    /// Stores `value` at `key` and returns the previous value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0.make_mut()[at].1, value)),
            Err(at) => {
                self.put(at, key, value);
                None
            }
        }
    }

    /// The value at `key`, mutable; a missing value is created first.
    pub fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let at = match self.place(&key) {
            Ok(at) => at,
            Err(at) => {
                self.put(at, key, V::default());
                at
            }
        };
        &mut self.0.make_mut()[at].1
    }

    /// Removes the entry of `key` and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| self.0.remove(at).1)
    }

    /// Index of `key`, or the index at which to insert it. The last entry is compared first, because most entries arrive in
    /// key order.
    fn place(&self, key: &K) -> Result<usize, usize> {
        match self.0.last() {
            Some((last, _)) if last >= key => self.find(key),
            _ => Err(self.0.len()),
        }
    }

    fn put(&mut self, at: usize, key: K, value: V) {
        if self.0.is_empty() {
            // Many maps have a single entry.
            self.0 = EcoVec::with_capacity(1);
        }
        self.0.insert(at, (key, value));
    }

    /// Sorts entries that arrived in any order; of several entries with one key the last is kept.
    fn sort(&mut self) {
        if self.0.is_sorted_by(|(a, _), (b, _)| a < b) {
            return;
        }
        self.0.make_mut().sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut kept: EcoVec<(K, V)> = EcoVec::with_capacity(self.0.len());
        for entry in std::mem::take(&mut self.0) {
            match kept.make_mut().last_mut() {
                Some(last) if last.0 == entry.0 => *last = entry,
                _ => kept.push(entry),
            }
        }
        self.0 = kept;
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = SortedMap(entries.into_iter().collect());
        map.sort();
        map
    }
}

impl<K: Ord + Clone, V: Clone, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.0.extend(entries);
        self.sort();
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    /// The value at `key`. Panics if `key` is missing.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

/// Entries of a [`SortedMap`] by reference.
pub type Iter<'a, K, V> = Map<slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

impl<K: Clone, V: Clone> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = ecow::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The map behaves like a [`BTreeMap`].
        #[test]
        fn behaves_like_a_tree(
            initial in prop::collection::vec((0_u8..20, any::<u8>()), 0..20),
            changes in prop::collection::vec((0_u8..20, any::<Option<u8>>()), 0..40),
            added in prop::collection::vec((0_u8..20, any::<u8>()), 0..20),
        ) {
            let mut tree: BTreeMap<u8, u8> = initial.iter().copied().collect();
            let mut map: SortedMap<u8, u8> = initial.into_iter().collect();
            for (key, change) in changes {
                if let Some(value) = change {
                    prop_assert_eq!(map.insert(key, value), tree.insert(key, value));
                } else {
                    prop_assert_eq!(map.remove(&key), tree.remove(&key));
                }
                prop_assert_eq!(map.get(&key), tree.get(&key));
            }
            map.extend(added.iter().copied());
            tree.extend(added);
            *map.get_or_default(7) |= 1;
            *tree.entry(7).or_default() |= 1;
            prop_assert!(map.iter().eq(tree.iter()));
            map.retain(|key, value| key > value);
            tree.retain(|key, value| *key > *value);
            prop_assert!(map.into_iter().eq(tree));
        }
    }
}
