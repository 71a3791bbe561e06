(call_expression function: (qualified_identifier name: (identifier) @reference.call))
(call_expression
  function: (qualified_identifier name: (qualified_identifier name: (identifier) @reference.call)))
(call_expression function: (template_function name: (identifier) @reference.call))
(call_expression
  function: (qualified_identifier name: (template_function name: (identifier) @reference.call)))
(call_expression
  function: (field_expression field: (template_method name: (field_identifier) @reference.call)))

(using_declaration (identifier) @reference.import)
(using_declaration (qualified_identifier name: (identifier) @reference.import))

(namespace_identifier) @reference.name
