(field_definition
  property: [(property_identifier) (private_property_identifier)] @name
  value: (arrow_function body: (_) @body)) @definition.method
(field_definition
  property: [(property_identifier) (private_property_identifier)] @name) @definition.field
