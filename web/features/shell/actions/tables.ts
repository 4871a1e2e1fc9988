import { Copy, FileUp, History, Network, Table2, Trash2 } from 'lucide-react'
import type { Table } from '../../../../src/core/model.ts'
import type { Action, ActionContext } from '../../../actions/action.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { cache } from '../../../trpc.ts'
import { pickImport } from '../../tables/pick-import.ts'
import { createTable, duplicateTable } from '../../tables/table-commands.tsx'

const group = () => m.shell_this_base()

/** Makes a table in the base on the screen. */
export const createTableAction: Action = {
  id: 'table.create',
  label: () => m.common_new_table(),
  group,
  icon: Table2,
  shortcut: 'alt+t',
  when: ({ can }) => can('table.create'),
  run({ base }) {
    if (base) createTable(base.id)
  },
}

/** Copies the table on the screen. */
export const duplicateTableAction: Action = {
  id: 'table.duplicate',
  label: () => m.shell_duplicate_table(),
  group,
  icon: Copy,
  when: (context) => context.can('table.duplicate') && tableOf(context) !== undefined,
  run(context) {
    const table = tableOf(context)
    if (table) duplicateTable(table)
  },
}

const tableOf = ({ base, tableId }: ActionContext): Table | undefined =>
  base ? cache.schema.tables.getData({ baseId: base.id })?.find(({ id }) => id === tableId) : undefined

/** Imports a file as a new table. */
export const importAction: Action = {
  id: 'base.import',
  label: () => m.shell_import_data(),
  group,
  icon: FileUp,
  when: ({ can }) => can('import.create'),
  run({ base }) {
    if (base) pickImport({ baseId: base.id })
  },
}

/** The diagram of the base on the screen. */
export const relationsAction: Action = {
  id: 'base.relations',
  label: () => m.shell_relations_between_tables(),
  group,
  icon: Network,
  when: ({ base }) => base !== undefined && base !== null,
  run({ base }) {
    if (base) goTo(paths.relations(base.id))
  },
}

/** What was deleted in the base on the screen. */
export const trashAction: Action = {
  id: 'base.trash',
  label: () => m.common_trash(),
  group,
  icon: Trash2,
  when: ({ can }) => can('record.restore'),
  run({ base, tableId }) {
    if (base) goTo(paths.trash(base.id, tableId ?? undefined))
  },
}

/** What was done in the base on the screen. */
export const historyAction: Action = {
  id: 'base.history',
  label: () => m.common_history(),
  group,
  icon: History,
  when: ({ can }) => can('record.undo'),
  run({ base, tableId }) {
    if (base) goTo(paths.history(base.id, tableId ?? undefined))
  },
}
