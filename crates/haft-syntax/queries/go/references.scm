(call_expression function: (identifier) @reference.call)
(call_expression function: (selector_expression field: (field_identifier) @reference.call))
(call_expression function: (parenthesized_expression (identifier) @reference.call))
(call_expression
  function: (parenthesized_expression
    (selector_expression field: (field_identifier) @reference.call)))

(import_spec name: (package_identifier) @reference.import)

(type_identifier) @reference.type

[
  (identifier)
  (field_identifier)
  (package_identifier)
] @reference.name
