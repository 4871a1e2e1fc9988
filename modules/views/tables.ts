import type { Filter } from '../../src/core/filters/filter.ts'
import type { RowHeight, Sort, View, ViewKind } from '../../src/core/model.ts'
import type { HideableRole } from '../../src/core/roles.ts'
import type { RowColoring } from '../../src/core/views/coloring.ts'
import type { FormField } from '../../src/core/views/form.ts'
import type { Columns } from '../../src/db/columns.ts'

/** Defines the tables `views` and `view_fields`. */
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
      /** Whether system fields are offered; null leaves it to the client. */
      showSystemFields: c.flag('show_system_fields'),
      rowHeight: c.text('row_height').$type<RowHeight>().notNull(),
      frozen: c.integer('frozen').notNull(),
      filter: c.json('filter').$type<Filter | null>(),
      sorts: c.json('sorts').$type<Sort[]>().notNull(),
      groups: c.json('groups').$type<Sort[] | null>(),
      coloring: c.json('coloring').$type<RowColoring | null>(),
      /** Options of the kind (`src/core/views`); null: its defaults. */
      options: c.json('options').$type<object | null>(),
      /** The roles whose view list omits it; null: every role sees it. */
      hiddenFrom: c.json('hidden_from').$type<HideableRole[] | null>(),
      createdBy: c.text('created_by'),
      /** The user who may change a personal view. */
      ownedBy: c.text('owned_by'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
    },
    (t) => [c.index('views_table').on(t.tableId)],
  )
  /** How one view shows one field. A field without a row is shown last, with the defaults. */
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
      form: c.json('form').$type<FormField | null>(),
    },
    (t) => [c.uniqueIndex('view_fields_field').on(t.viewId, t.fieldId)],
  )
  return { views, viewFields }
}
