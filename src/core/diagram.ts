/** Content of a base's diagram: boxes with lines between them. */
export interface Diagram {
  tables: DiagramTable[]
  links: DiagramLink[]
}

export interface DiagramTable {
  id: string
  sourceId: string
  title: string
  /** True for a table that holds the pairs of a many-to-many link. */
  isJunction: boolean
  fields: DiagramField[]
}

export interface DiagramField {
  id: string
  title: string
  /** Label of its kind. */
  type: string
  isPrimaryKey: boolean
  isForeignKey: boolean
  isDisplay: boolean
}

/** A link, told once although both of its tables have a field for it. */
export interface DiagramLink {
  /** The field on the side of `fromTableId`, and its partner where there is one. */
  fieldId: string
  inverseFieldId: string | null
  fromTableId: string
  toTableId: string
  /** How many records of the other table one record has, on either side. */
  fromMany: boolean
  toMany: boolean
  /** The table of pairs between them; null for a link that is kept as a key. */
  junctionTableId: string | null
}
