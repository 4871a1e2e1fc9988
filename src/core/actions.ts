import { m } from './messages.gen.ts'

/** Labels of actions, by the key that the server sends. */
const ACTION_LABELS = {
  change_colours_of_view_in_table: m.action_change_colours_of_view_in_table,
  change_description_of_table: m.action_change_description_of_table,
  change_description_of_view_in_table: m.action_change_description_of_view_in_table,
  change_field_in_table: m.action_change_field_in_table,
  change_fields_in_records_of_table: m.action_change_fields_in_records_of_table,
  change_filter_of_view_in_table: m.action_change_filter_of_view_in_table,
  change_frozen_columns_of_view_in_table: m.action_change_frozen_columns_of_view_in_table,
  change_grouping_of_view_in_table: m.action_change_grouping_of_view_in_table,
  change_icon_of_table: m.action_change_icon_of_table,
  change_icon_of_view_in_table: m.action_change_icon_of_view_in_table,
  change_in_table: m.action_change_in_table,
  change_lock_of_view_in_table: m.action_change_lock_of_view_in_table,
  change_options_of_field_in_table: m.action_change_options_of_field_in_table,
  change_owner_of_view_in_table: m.action_change_owner_of_view_in_table,
  change_row_height_of_view_in_table: m.action_change_row_height_of_view_in_table,
  change_settings_of_field_in_view: m.action_change_settings_of_field_in_view,
  change_settings_of_fields_in_view: m.action_change_settings_of_fields_in_view,
  change_settings_of_view: m.action_change_settings_of_view,
  change_settings_of_view_in_table: m.action_change_settings_of_view_in_table,
  change_sort_of_view_in_table: m.action_change_sort_of_view_in_table,
  change_summary_of_field_in_view: m.action_change_summary_of_field_in_view,
  change_who_sees_view_of_table: m.action_change_who_sees_view_of_table,
  change_who_sees_views: m.action_change_who_sees_views,
  create_field_in_table: m.action_create_field_in_table,
  create_table: m.action_create_table,
  create_view_in_table: m.action_create_view_in_table,
  delete_field_from_table: m.action_delete_field_from_table,
  delete_record_from_table: m.action_delete_record_from_table,
  delete_records_from_table: m.action_delete_records_from_table,
  delete_records_from_table_forever: m.action_delete_records_from_table_forever,
  delete_table: m.action_delete_table,
  delete_view_from_table: m.action_delete_view_from_table,
  display_field: m.action_display_field,
  edit_record_in_table: m.action_edit_record_in_table,
  edit_records_in_table: m.action_edit_records_in_table,
  field_type: m.action_field_type,
  hide_field_in_view: m.action_hide_field_in_view,
  hide_fields_in_view: m.action_hide_fields_in_view,
  import: m.action_import,
  import_update: m.action_import_update,
  links_changed: m.action_links_changed,
  many_values_changed: m.action_many_values_changed,
  move_field_in_view: m.action_move_field_in_view,
  move_record_in_table: m.action_move_record_in_table,
  move_record_in_view: m.action_move_record_in_view,
  move_records_in_table: m.action_move_records_in_table,
  move_records_in_view: m.action_move_records_in_view,
  move_table: m.action_move_table,
  move_view_in_table: m.action_move_view_in_table,
  new_record_in_table: m.action_new_record_in_table,
  new_records_in_table: m.action_new_records_in_table,
  records_linked: m.action_records_linked,
  records_unlinked: m.action_records_unlinked,
  rename_field_in_table_to: m.action_rename_field_in_table_to,
  rename_table_to: m.action_rename_table_to,
  rename_view_in_table_to: m.action_rename_view_in_table_to,
  reorder_fields_in_view: m.action_reorder_fields_in_view,
  resize_fields_in_view: m.action_resize_fields_in_view,
  restore_field_in_table: m.action_restore_field_in_table,
  restore_record_in_table: m.action_restore_record_in_table,
  restore_records_in_table: m.action_restore_records_in_table,
  restore_table: m.action_restore_table,
  rewind_record_in_table: m.action_rewind_record_in_table,
  rewind_table: m.action_rewind_table,
  show_field_in_view: m.action_show_field_in_view,
  show_fields_in_view: m.action_show_fields_in_view,
  show_or_hide_fields_in_view: m.action_show_or_hide_fields_in_view,
  synchronise_with: m.action_synchronise_with,
  value_changed: m.action_value_changed,
  values_changed: m.action_values_changed,
}

export type LabelKey = keyof typeof ACTION_LABELS

/** Inputs of a label's text: `{ count: 12000, table: 'weather' }`. */
export type LabelParams<Key extends LabelKey> = Parameters<(typeof ACTION_LABELS)[Key]>[0]

/** An action's label as key and parameters, so that each client shows it in its language. */
export interface Label {
  key: LabelKey
  params: Record<string, string | number>
}

/** A label's text in the current language: `Import of 12,000 records into weather`. */
const labelText = ({ key, params }: Label): string =>
  (ACTION_LABELS[key] as (params: Label['params']) => string)(params)

/** Why undoing an action needs a confirmation. */
export type ConfirmReason =
  /** It changed another table, or another view, than the one on screen. */
  | 'elsewhere'
  /** It created, changed or deleted a table, a field, a view or a data source. */
  | 'structure'
  | 'import'
  /** It changed more than `CONFIRM_RECORDS` records. */
  | 'many'

/** Undoing or deleting more records than this asks first. */
export const CONFIRM_RECORDS = 100

/** The table or view on screen, to which undo by keyboard is limited. */
export interface ActionScope {
  tableId?: string
  viewId?: string
}

/** An action as listed in the history and named by undo. */
export interface Action {
  /** Id of its entry in the base's change log. */
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
  /** Number of changed records. */
  records: number
  /** `final` cannot be undone, such as deleting a record forever. */
  state: 'done' | 'undone' | 'final'
  confirm: ConfirmReason | null
}

/** A one-line description of an action in the current language: `Qty of Item 3: 42 → 4242`. */
export function actionText({ label, further }: Pick<Action, 'label' | 'further'>): string {
  const text = labelText(label)
  return further === 0 ? text : m.action_and_more_changes({ label: text, count: further })
}
