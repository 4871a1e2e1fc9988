import {
  ArrowDownToLine,
  ArrowUpToLine,
  ChevronsDownUp,
  ClipboardPaste,
  Copy,
  Eraser,
  Files,
  Link,
  Maximize2,
  MessageSquare,
  PaintBucket,
  Pencil,
  RotateCcw,
  Scissors,
  Trash2,
  Undo2,
} from 'lucide-react'
import type { RecordId } from '../../../../src/core/model.ts'
import { messageOf } from '../../../errors.ts'
import type { CellArea, CellMenuRequest, GridRow } from '../../../grid/contract.ts'
import { groupAt, withCollapsed } from '../../../grid/groups/tree.ts'
import { formatNumber } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { type MenuItem, openMenu } from '../../../ui/menu.tsx'
import { shortcutLabel } from '../../../ui/shortcuts.ts'
import { toast } from '../../../ui/toast.ts'
import { addOnceCounted } from '../commands/add-once-counted.ts'
import { copyToTableItems } from '../commands/copy-to-table.tsx'
import { copyRecordLink, deleteRecords, duplicateRecords, MAX_COPIES } from '../commands/record-commands.ts'
import { triggerItems, whenHooksAreKnown } from '../commands/trigger-webhooks.ts'
import { askedComment } from '../context/asked-comment.ts'
import { anchorOf, can, type GetContext, type TableContext } from '../context/table-context.ts'
import { offerRecord } from '../groups/group-values.ts'

/** Maximum records that a range menu handles individually. */
const MAX_ROWS = 1000

/** The menu of a cell, of a row number, or of everything that is selected with it. */
export function openCellMenu(get: GetContext, request: CellMenuRequest): void {
  const context = get()
  const row = context.store.source.getRow(request.rowIndex)
  if (!row) return
  const spans = selectedRows(request.areas)
  const count = spans.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  const isOfSelection = count > 1
  const label = isOfSelection ? m.records_selected_records() : m.common_record()
  openMenu(anchorOf(request), items(row), label)

  async function items({ id, state }: GridRow): Promise<MenuItem[]> {
    if (count > MAX_ROWS) {
      const separator: MenuItem = { kind: 'separator' }
      return [...clipboardItems(context, request), separator, ...tooManyItems(context, count)]
    }
    const ids = isOfSelection ? await recordsOf(context, spans, id) : [id]
    const several = ids.length > 1
    return whenHooksAreKnown(context, () => [
      ...(several
        ? []
        : [{ kind: 'id', label: m.common_record(), value: String(context.store.realId(id)) } as const]),
      ...(state === 'failed' ? failedItems(context, id) : []),
      ...(several ? [] : placeItems(context, request.rowIndex, id)),
      ...clipboardItems(context, request),
      { kind: 'separator' },
      ...groupItems(context, request.rowIndex),
      ...recordItems(context, request.rowIndex, ids, request.fieldId),
    ])
  }
}

/** Numbers of consecutive rows, both included. */
interface RowSpan {
  first: number
  last: number
}

/** The rows of areas, in order; those that several areas share, once. */
function selectedRows(areas: readonly CellArea[]): RowSpan[] {
  const spans: RowSpan[] = []
  for (const { firstRow, lastRow } of areas.toSorted((a, b) => a.firstRow - b.firstRow)) {
    const before = spans.at(-1)
    if (before && firstRow <= before.last + 1) before.last = Math.max(before.last, lastRow)
    else spans.push({ first: firstRow, last: lastRow })
  }
  return spans
}

/** The records of rows, which may have to be read; only the clicked one if it is not among them. */
async function recordsOf(
  { store: { source } }: TableContext,
  spans: readonly RowSpan[],
  clicked: RecordId,
): Promise<RecordId[]> {
  const read = await Promise.all(spans.map((span) => source.readRange({ ...span, fieldIds: [] })))
  const ids = new Set(read.flat().map(({ id }) => id))
  return ids.has(clicked) ? [...ids] : [clicked]
}

/** Menu items for a record whose values the server refused. */
export function failedItems({ store }: TableContext, id: RecordId): MenuItem[] {
  return [
    { kind: 'action', label: m.records_try_to_save_again(), icon: RotateCcw, run: () => store.retry(id) },
    { kind: 'action', label: m.records_discard_unsaved_change(), icon: Undo2, run: () => store.discard(id) },
    { kind: 'separator' },
  ]
}

function placeItems(context: TableContext, rowIndex: number, id: RecordId): MenuItem[] {
  const { store, grid } = context
  if (!can(context, 'record.create')) return []
  const insert = (before: RecordId | null) => {
    const index = offerRecord(context, before, rowIndex)
    if (index === null) return before === null ? addOnceCounted(() => context) : undefined
    grid()?.select(index)
    grid()?.focus()
  }
  return [
    { kind: 'action', label: m.records_insert_above(), icon: ArrowUpToLine, run: () => insert(id) },
    {
      kind: 'action',
      label: m.records_insert_below(),
      icon: ArrowDownToLine,
      run: () => insert(store.source.getRow(rowIndex + 1)?.id ?? null),
    },
    { kind: 'separator' },
  ]
}

/** Opens the record for a comment on the cell, or on the record if there is no cell. */
function commentItems(context: TableContext, id: RecordId, fieldId: string | null): MenuItem[] {
  if (isVisitorPage || !can(context, 'comment.create')) return []
  const comment = () => {
    askedComment.setState(
      { tableId: context.schema.table.id, recordId: context.store.realId(id), fieldId },
      true,
    )
    context.openRecord(id)
  }
  return [
    {
      kind: 'action',
      label: fieldId === null ? m.records_comment_on_record() : m.records_comment_on_cell(),
      icon: MessageSquare,
      run: comment,
    },
  ]
}

/** Collapses the group by keyboard, which cannot reach its header. */
function groupItems({ groups }: TableContext, rowIndex: number): MenuItem[] {
  const tree = groups?.layout.tree.get()
  const group = tree && groupAt(tree, rowIndex)
  if (!groups || !group) return []
  const { remembered } = groups
  return [
    {
      kind: 'action',
      label: m.records_collapse_group(),
      icon: ChevronsDownUp,
      run: () => remembered.change((now) => withCollapsed(now, group.node.keys, true)),
    },
    { kind: 'separator' },
  ]
}

function clipboardItems(context: TableContext, { fieldId }: CellMenuRequest): MenuItem[] {
  const { grid } = context
  const copy: MenuItem = {
    kind: 'action',
    label: m.common_copy(),
    icon: Copy,
    shortcut: shortcutLabel('mod+c'),
    run: () => grid()?.copy(),
  }
  if (!can(context, 'record.update')) return [copy]
  const paste = async () => {
    if (!(await grid()?.paste())) {
      toast.error({
        text: m.records_browser_blocks_clipboard_access_here({
          keys: shortcutLabel('mod+v'),
        }),
      })
    }
  }
  return [
    copy,
    {
      kind: 'action',
      label: m.records_cut(),
      icon: Scissors,
      shortcut: shortcutLabel('mod+x'),
      run: () => grid()?.cut(),
    },
    {
      kind: 'action',
      label: m.records_paste(),
      icon: ClipboardPaste,
      shortcut: shortcutLabel('mod+v'),
      run: () => void paste().catch((error) => toast.error({ text: messageOf(error) })),
    },
    ...(fieldId === null
      ? []
      : [
          {
            kind: 'action',
            label: m.common_clear(),
            icon: Eraser,
            shortcut: 'Del',
            run: () => grid()?.clear(),
          } as const,
          {
            kind: 'action' as const,
            label: m.records_fill_down(),
            icon: PaintBucket,
            shortcut: shortcutLabel('mod+d'),
            run: () => grid()?.fillDown(),
          },
        ]),
  ]
}

/** Why a command does not take that many records; null if it does. */
const tooMany = (count: number, max: number): string | null =>
  count > max ? m.records_too_many_at_once({ max: formatNumber(max) }) : null

/** What the menu of fewer records would offer, with the reason why it does not. */
function tooManyItems(context: TableContext, count: number): MenuItem[] {
  const disabled = { kind: 'action', disabledReason: tooMany(count, MAX_ROWS), run() {} } as const
  return [
    ...(can(context, 'record.update')
      ? [{ ...disabled, icon: Pencil, label: m.records_edit_records({ count }) }]
      : []),
    ...(can(context, 'record.create')
      ? [{ ...disabled, icon: Files, label: m.records_duplicate_records({ count }) }]
      : []),
    ...(can(context, 'record.delete')
      ? [{ ...disabled, icon: Trash2, label: m.records_delete_records_count({ count }) }]
      : []),
  ]
}

/**
 * Menu items for one record at `rowIndex` (-1: not in the grid), whose cell `fieldId` may be meant, or for several records;
 * call it through `whenHooksAreKnown`.
 */
export function recordItems(
  context: TableContext,
  rowIndex: number,
  ids: readonly RecordId[],
  fieldId: string | null = null,
): MenuItem[] {
  const [id] = ids
  if (id === undefined) return []
  const several = ids.length > 1
  const isLocal = context.store.source.getRow(rowIndex)?.state === 'new'
  const run = (work: Promise<unknown>) => void work.catch((error) => toast.error({ text: messageOf(error) }))
  const single: MenuItem[] =
    several || isLocal
      ? []
      : [
          {
            kind: 'action',
            label: m.common_open_record(),
            icon: Maximize2,
            shortcut: m.common_space(),
            run: () => context.openRecord(id),
          },
          {
            kind: 'action',
            label: m.records_copy_record_link(),
            icon: Link,
            run: () => run(copyRecordLink(context, id)),
          },
          ...commentItems(context, id, fieldId),
        ]
  const duplicate: MenuItem = {
    kind: 'action',
    icon: Files,
    run: () => run(duplicateRecords(context, ids)),
    label: several ? m.records_duplicate_records({ count: ids.length }) : m.common_duplicate(),
    disabledReason: tooMany(ids.length, MAX_COPIES),
  }
  const edit: MenuItem = {
    kind: 'action',
    icon: Pencil,
    run: () => context.editRecords(ids),
    label: m.records_edit_records({ count: ids.length }),
  }
  const remove: MenuItem = {
    kind: 'action',
    icon: Trash2,
    tone: 'danger',
    label: several ? m.records_delete_records_count({ count: ids.length }) : m.common_delete_record(),
    run: () => (isLocal ? context.store.discard(id) : run(deleteRecords(context, ids))),
  }
  return [
    ...single,
    ...(several && can(context, 'record.update') ? [edit] : []),
    ...(can(context, 'record.create') && !isLocal ? [duplicate] : []),
    ...copyToTableItems(context, ids),
    ...triggerItems(context, ids),
    { kind: 'separator' },
    ...(can(context, 'record.delete') ? [remove] : []),
  ]
}
