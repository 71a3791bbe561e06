(method_invocation name: (identifier) @reference.call)
(method_reference (_) (identifier) @reference.call)
(object_creation_expression type: (type_identifier) @reference.call)
(object_creation_expression type: (generic_type (type_identifier) @reference.call))

(import_declaration (identifier) @reference.import)
(import_declaration (scoped_identifier name: (identifier) @reference.import))

(marker_annotation name: (identifier) @reference.type)
(annotation name: (identifier) @reference.type)
(type_identifier) @reference.type

(identifier) @reference.name
