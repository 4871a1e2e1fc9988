/** A base's entity relationship diagram. */
export interface Diagram {
  tables: DiagramTable[]
  links: DiagramLink[]
}

export interface DiagramTable {
  id: string
  sourceId: string
  title: string
  /** True for the junction table of a many-to-many link. */
  isJunction: boolean
  fields: DiagramField[]
}

export interface DiagramField {
  id: string
  title: string
  /** Label of the field type. */
  type: string
  isPrimaryKey: boolean
  isForeignKey: boolean
  isDisplay: boolean
}

/** A link, listed once although both of its tables have a field for it. */
export interface DiagramLink {
  /** The link field in `fromTableId`. */
  fieldId: string
  /** Its counterpart in `toTableId`, if there is one. */ inverseFieldId: string | null
  fromTableId: string
  toTableId: string
  /** Cardinality of each side: true if a record of the other table can link several of this side. */
  fromMany: boolean
  toMany: boolean
  /** The junction table; null for a link stored in a foreign key. */
  junctionTableId: string | null
}
