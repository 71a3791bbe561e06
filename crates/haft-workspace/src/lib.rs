//! The door to user files: roots, resolution, protection, walking.
