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
