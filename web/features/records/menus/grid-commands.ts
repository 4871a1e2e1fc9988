import { addFiles } from '../../../attachments/add-files.tsx'
import { messageOf } from '../../../errors.ts'
import type { GridCommands } from '../../../grid/contract.ts'
import { preloadAfterContent } from '../../../navigation/after-content.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { setQuery } from '../../../navigation/paths.ts'
import { toast } from '../../../ui/toast.ts'
import { moveFields, shownFields } from '../../views/state/arrange-fields.ts'
import { addOnceCounted } from '../commands/add-once-counted.ts'
import { fileTarget } from '../commands/file-target.ts'
import { completeLinks } from '../commands/link-reads.ts'
import { linkTarget } from '../commands/link-target.ts'
import { clearCells, createOption, deleteRecords } from '../commands/record-commands.ts'
import { anchorOf, can, fieldOf, type GetContext } from '../context/table-context.ts'
import { offerRecord } from '../groups/group-values.ts'
import { pastePlan, tellRejected } from '../paste/paste-command.tsx'
import { placeOf, redo, undo } from '../undo/undo-commands.tsx'
import { openHeaderMenu } from './header-menu.ts'
import { openSummaryMenu } from './summary-menu.ts'

const cellMenu = () => loadPart(() => import('./cell-menu.ts'))
preloadAfterContent({ preload: cellMenu })

/** The commands of a table's grid; the object stays the same while the screen is mounted. */
export function createGridCommands(get: GetContext): GridCommands {
  const notify: GridCommands['notify'] = (text, kind) =>
    kind === 'error' ? toast.error({ text }) : toast.info({ text })
  // Reports failures of the command; the store shows values that the server refused.
  const run = (work: Promise<unknown>) => void work.catch((error) => notify(messageOf(error), 'error'))

  return {
    notify,
    setCells: (cells) => run(get().store.setCells(cells)),
    setEdited: ({ recordId, fieldId, value, opened }) =>
      run(get().store.writeEdit(recordId, { fieldId, opened, mine: value })),
    clearCells: (areas) => run(clearCells(get, areas)),
    addRow(before, beside) {
      const row = offerRecord(get(), before, beside)
      if (row === null && before === null) addOnceCounted(get)
      return row
    },
    deleteRows: (ids) => run(deleteRecords(get(), ids)),
    moveRows(ids, before, into) {
      if (into) {
        const move = async () => {
          const { moveIntoGroup } = await loadPart(() => import('../groups/move-into-group.ts'))
          await moveIntoGroup(get(), ids, before, into)
        }
        return run(move())
      }
      const { store, schema } = get()
      run(store.apply([{ kind: 'move', tableId: schema.table.id, ids, before }]))
    },
    paste: (plan) => pastePlan(get, plan),
    leftOut: (rejected) => tellRejected(get(), rejected),
    resizeColumns: (widths) =>
      get().state.arrange(widths.map(({ fieldId, width }) => ({ fieldId, width: Math.round(width) }))),
    moveColumns(fieldIds, before) {
      const { schema, state } = get()
      const changes = moveFields(schema.fields, state.view, fieldIds, before)
      if (changes.length > 0) state.arrange(changes)
    },
    freezeColumns(count) {
      const { schema, state } = get()
      const most = shownFields(schema.fields, state.view).length
      state.update({ frozen: Math.max(1, Math.min(count, most, MAX_FROZEN)) })
    },
    expandRow(rowIndex) {
      const row = get().store.source.getRow(rowIndex)
      // A record that was not saved yet has no address.
      if (row && row.state !== 'new') setQuery('rowId', String(get().store.realId(row.id)))
    },
    addField: (anchor) => get().editField({ field: null, anchor: anchorOf(anchor) }),
    editField(fieldId, anchor) {
      const context = get()
      const field = fieldOf(context, fieldId)
      if (field && can(context, 'field.update')) context.editField({ field, anchor: anchorOf(anchor) })
    },
    openHeaderMenu: (fieldId, anchor) => openHeaderMenu(get, fieldId, anchor),
    openSummaryMenu: (fieldId, anchor) => openSummaryMenu(get(), fieldId, anchorOf(anchor)),
    openCellMenu: (request) => run(cellMenu().then(({ openCellMenu }) => openCellMenu(get, request))),
    get createOption() {
      const context = get()
      if (!can(context, 'field.update')) return undefined
      return (fieldId: string, title: string) => createOption(context, fieldId, title)
    },
    fileTarget(recordId, fieldId) {
      const field = fieldOf(get(), fieldId)
      return field ? fileTarget(get(), field, recordId) : null
    },
    linkTarget(recordId, fieldId) {
      const field = fieldOf(get(), fieldId)
      return field ? linkTarget(get, field, recordId) : null
    },
    completeLinks: (recordId, fieldId, signal) => completeLinks(get(), recordId, fieldId, signal),
    addFiles: (target, files) =>
      addFiles(
        target,
        files.map((file) => ({ file })),
      ),
    retry: (id) => get().store.retry(id),
    discard: (id) => get().store.discard(id),
    undo: () => run(undo(placeOf(get()))),
    redo: () => run(redo(placeOf(get()))),
  }
}

const MAX_FROZEN = 50
