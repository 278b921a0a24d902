//! Default classes: attributes that elements have unless they give their own.

use std::collections::HashMap;

use crate::Error;
use crate::formats::xml::Element;

/// The classes by their names.
#[derive(Debug, Default)]
pub(super) struct Defaults<'a> {
    classes: HashMap<&'a str, Class<'a>>,
}

#[derive(Debug, Default)]
struct Class<'a> {
    parent: Option<&'a str>,
    elements: Vec<&'a Element>,
}

/// The class of what has no class.
const MAIN: &str = "main";

impl<'a> Defaults<'a> {
    /// Of all `default` elements.
    pub fn read(root: &'a Element) -> Result<Defaults<'a>, Error> {
        let mut defaults = Defaults::default();
        defaults.classes.insert(MAIN, Class::default());
        for element in root.all("default") {
            defaults.add(element, MAIN, None)?;
            // The outermost may have a name of its own.
            if let Some(name) = element.get("class")
                && name != MAIN
            {
                let alias = Class { parent: Some(MAIN), elements: Vec::new() };
                defaults.classes.entry(name).or_insert(alias);
            }
        }
        Ok(defaults)
    }

    fn add(
        &mut self,
        element: &'a Element,
        name: &'a str,
        parent: Option<&'a str>,
    ) -> Result<(), Error> {
        let class = self.classes.entry(name).or_default();
        class.parent = parent;
        class.elements.extend(element.children.iter().filter(|child| child.tag != "default"));
        for child in element.all("default") {
            let inner = child.required("class")?;
            if self.classes.contains_key(inner) {
                return Err(child.error("class", format!("{inner:?} is given twice")));
            }
            self.add(child, inner, Some(name))?;
        }
        Ok(())
    }

    /// An element with the defaults of its class, or of `inherited`, or of all.
    pub fn given(
        &self,
        element: &'a Element,
        inherited: Option<&'a str>,
    ) -> Result<Given<'a>, Error> {
        self.given_as(element, inherited, &[element.tag.as_str()])
    }

    /// The same, with the defaults of elements of any of these names.
    pub fn given_as(
        &self,
        element: &'a Element,
        inherited: Option<&'a str>,
        tags: &[&str],
    ) -> Result<Given<'a>, Error> {
        let mut layers = vec![element];
        let mut next = element.get("class").or(inherited).or(Some(MAIN));
        while let Some(name) = next {
            let Some(class) = self.classes.get(name) else {
                let found: String = name.chars().take(40).collect();
                return Err(element.error("class", format!("there is no class {found:?}")));
            };
            let elements = class.elements.iter().rev();
            layers.extend(elements.filter(|default| tags.contains(&default.tag.as_str())));
            next = class.parent;
        }
        Ok(Given { layers })
    }

    /// All elements of all classes.
    pub fn elements(&self) -> Vec<&'a Element> {
        let mut all: Vec<&Element> =
            self.classes.values().flat_map(|class| class.elements.iter().copied()).collect();
        all.sort_by_key(|element| element.line);
        all
    }
}

/// An element and, behind it, the defaults it has.
#[derive(Clone, Debug)]
pub(super) struct Given<'a> {
    /// The nearest first.
    pub layers: Vec<&'a Element>,
}

impl<'a> Given<'a> {
    /// The element itself.
    pub fn own(&self) -> &'a Element {
        self.layers[0]
    }

    /// The nearest element that has an attribute, itself if none has.
    pub fn at(&self, name: &str) -> &'a Element {
        let layer = self.layers.iter().find(|layer| layer.get(name).is_some());
        layer.unwrap_or(&self.layers[0])
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.at(name).get(name)
    }
}
