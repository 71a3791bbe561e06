(call_expression function: (identifier) @reference.call)
(call_expression function: (member_expression property: (property_identifier) @reference.call))
(call_expression
  function: (member_expression property: (private_property_identifier) @reference.call))
(new_expression constructor: (identifier) @reference.call)
(new_expression
  constructor: (member_expression property: (property_identifier) @reference.call))
(decorator (identifier) @reference.call)

(import_clause (identifier) @reference.import)
(namespace_import (identifier) @reference.import)
(import_specifier (identifier) @reference.import)
(export_specifier (identifier) @reference.import)

[
  (identifier)
  (property_identifier)
  (private_property_identifier)
  (shorthand_property_identifier)
  (shorthand_property_identifier_pattern)
] @reference.name
