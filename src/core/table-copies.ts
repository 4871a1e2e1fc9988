/** A field of a table that is copied to another base. */
export interface CopiedField {
  id: string
  title: string
  tableTitle: string
  /**
   * `same`: it is copied as it is. `values`: a link or computed field becomes its values, links the names of their records.
   * `left`: it is not copied.
   */
  effect: 'same' | 'values' | 'left'
  /** True if the history of its records lists changes of it, which a copy cannot have: they name linked records, or no field. */
  losesHistory: boolean
}

/** A field of a table that stays behind when others move. */
export interface LostField {
  title: string
  tableTitle: string
  /** `deleted`: a link to a moved table, which goes to the trash. `broken`: it was computed from one. */
  effect: 'deleted' | 'broken'
}

/** What belongs to a table of a connected database and its duplicate does not have. */
export interface NotCopiedPart {
  kind: 'reference' | 'index' | 'trigger' | 'policy'
  /** Of an index that the copy of a base does not manage: the titles of its fields. */
  name: string
  /** The title of its table, in the copy of a base. */
  table?: string
}

/** The result of duplicating a base. */
export interface CopiedBase {
  id: string
  /** Indexes of connected tables that only the original manages. Absent if there are none. */
  notCopied?: NotCopiedPart[]
}

/** The result of duplicating a table. */
export interface CopiedTable {
  id: string
  /** Absent if everything was copied. */
  notCopied?: NotCopiedPart[]
}

/** Most tables that are copied together. */
export const MAX_COPIED_TABLES = 100

/** What copying or moving tables to another base does. */
export interface TableCopyPreview {
  fields: CopiedField[]
  /** Tables that the copied ones are linked to and that are not among them. */
  linked: { id: string; title: string }[]
  /** Of a move: fields of tables that stay. */
  lost: LostField[]
  /** Whether records keep their ids, and with them their comments and history. */
  keepsIds: boolean
  /** Number of comments that can be copied. */
  comments: number
  /** Number of webhooks that can be copied; 0 for those who may not see them. */
  webhooks: number
}
