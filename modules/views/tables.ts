import type { Filter } from '../../src/core/filters/filter.ts'
import type { RowHeight, Sort, View, ViewKind } from '../../src/core/model.ts'
import type { HideableRole } from '../../src/core/roles.ts'
import type { RowColoring } from '../../src/core/views/coloring.ts'
import type { FormField } from '../../src/core/views/form.ts'
import type { Columns } from '../../src/db/columns.ts'

/** Definitions of views and of what each says of its fields. */
export function defineViewsTables(c: Columns) {
  const views = c.table(
    'views',
    {
      id: c.text('id').primaryKey(),
      tableId: c.text('table_id').notNull(),
      title: c.text('title').notNull(),
      description: c.text('description'),
      kind: c.text('kind').$type<ViewKind>().notNull(),
      isDefault: c.flag('is_default').notNull(),
      order: c.real('order').notNull(),
      lock: c.text('lock').$type<View['lock']>().notNull(),
      meta: c.json('meta').$type<Record<string, unknown>>().notNull(),
      /** Whether the product's own columns are offered; null: as the client likes. */
      showSystemFields: c.flag('show_system_fields'),
      rowHeight: c.text('row_height').$type<RowHeight>().notNull(),
      frozen: c.integer('frozen').notNull(),
      filter: c.json('filter').$type<Filter | null>(),
      sorts: c.json('sorts').$type<Sort[]>().notNull(),
      /** What the records are grouped by; null: nothing. */
      groups: c.json('groups').$type<Sort[] | null>(),
      coloring: c.json('coloring').$type<RowColoring | null>(),
      /** What the kind keeps (`src/core/views`); null: its defaults. */
      options: c.json('options').$type<object | null>(),
      /** The roles that do not see it in the list; null: all do. */
      hiddenFrom: c.json('hidden_from').$type<HideableRole[] | null>(),
      createdBy: c.text('created_by'),
      /** Who may change a personal view. */
      ownedBy: c.text('owned_by'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
    },
    (t) => [c.index('views_table').on(t.tableId)],
  )
  /** How one view shows one field; a field without a line here is shown last, with the defaults. */
  const viewFields = c.table(
    'view_fields',
    {
      id: c.text('id').primaryKey(),
      viewId: c
        .text('view_id')
        .notNull()
        .references(() => views.id, { onDelete: 'cascade' }),
      fieldId: c.text('field_id').notNull(),
      show: c.flag('show').notNull(),
      order: c.real('order').notNull(),
      width: c.integer('width').notNull(),
      summary: c.text('summary'),
      /** What a form says of the field. */
      form: c.json('form').$type<FormField | null>(),
    },
    (t) => [c.uniqueIndex('view_fields_field').on(t.viewId, t.fieldId)],
  )
  return { views, viewFields }
}
