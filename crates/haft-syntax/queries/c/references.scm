(call_expression function: (identifier) @reference.call)
(call_expression function: (field_expression field: (field_identifier) @reference.call))

(type_identifier) @reference.type

[
  (identifier)
  (field_identifier)
  (statement_identifier)
] @reference.name
