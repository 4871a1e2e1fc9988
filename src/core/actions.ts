/** A text with placeholders, so that a screen can translate it: `Import of {n} records into {table}`. */
export interface Label {
  text: string
  params: Record<string, string | number>
}

/** Why an action is not undone without asking; null where a key press is enough. */
export type ConfirmReason =
  /** It changed another table, or another view, than the one on screen. */
  | 'elsewhere'
  /** It made, changed or deleted a table, a field, a view or a data source. */
  | 'structure'
  | 'import'
  /** It changed more than `CONFIRM_RECORDS` records. */
  | 'many'

/** Undoing or deleting more records than this asks first. */
export const CONFIRM_RECORDS = 100

/** The place on screen, which undo by key is limited to. */
export interface ActionScope {
  tableId?: string
  viewId?: string
}

/** An action of a person or program, as the history lists it and as undo names it before it runs. */
export interface Action {
  /** Its entry in the change log of the base. */
  id: number
  at: string
  actorId: string | null
  /** `records.update`, `field.delete`, `view.arrange`, … */
  kind: string
  label: Label
  /** Further entries of the same action, which are undone with it. */
  further: number
  tableId: string | null
  tableTitle: string | null
  viewId: string | null
  viewTitle: string | null
  /** How many records it changed. */
  records: number
  /** `final` cannot be undone, such as deleting a record forever. */
  state: 'done' | 'undone' | 'final'
  confirm: ConfirmReason | null
}

/** A label as English text; numbers with separators. */
const labelText = ({ text, params }: Label): string =>
  text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = params[name] ?? placeholder
    return typeof value === 'number' ? new Intl.NumberFormat('en-US').format(value) : value
  })

/** An action as one English line: its label and how much more was done with it. */
export const actionText = ({ label, further }: Pick<Action, 'label' | 'further'>): string =>
  further === 0 ? labelText(label) : `${labelText(label)} (and ${further} more)`
