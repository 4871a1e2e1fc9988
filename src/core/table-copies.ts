/** A field of a table that is copied to another base. */
export interface CopiedField {
  id: string
  title: string
  /**
   * `same`: it is copied as it is. `values`: a link or computed field becomes its values, links the names of their records.
   * `left`: it is not copied.
   */
  effect: 'same' | 'values' | 'left'
}

/** What copying a table to another base does. */
export interface TableCopyPreview {
  fields: CopiedField[]
  /** Whether records keep their ids, and with them their comments. */
  keepsIds: boolean
  /** Number of comments that can be copied. */
  comments: number
  /** Number of webhooks that can be copied; 0 for those who may not see them. */
  webhooks: number
}
