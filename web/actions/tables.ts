import { Copy, FileUp, Network, Table2, Trash2 } from 'lucide-react'
import type { Table } from '../../src/core/model.ts'
import { pickImport } from '../features/shell/pick-import.ts'
import { createTable, duplicateTable, openTableTrash } from '../features/shell/table-commands.tsx'
import { t } from '../i18n.ts'
import { goTo, paths } from '../routes/paths.ts'
import { cache } from '../trpc.ts'
import type { Action, ActionContext } from './action.ts'

const group = () => t('This base')

/** Makes a table in the base on the screen. */
export const createTableAction: Action = {
  id: 'table.create',
  label: () => t('New table'),
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
  label: () => t('Duplicate table'),
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
  label: () => t('Import data'),
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
  label: () => t('Relations between tables'),
  group,
  icon: Network,
  when: ({ base }) => base !== undefined && base !== null,
  run({ base }) {
    if (base) goTo(paths.relations(base.id))
  },
}

/** The deleted tables of the base on the screen. */
export const tableTrashAction: Action = {
  id: 'tables.trash',
  label: () => t('Deleted tables'),
  group,
  icon: Trash2,
  when: ({ can }) => can('table.restore'),
  run({ base }) {
    if (base) openTableTrash(base)
  },
}
