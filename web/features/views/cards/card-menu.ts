import type { RecordId } from '../../../../src/core/model.ts'
import { isChecked } from '../../../grid/checks.ts'
import type { CheckedRows } from '../../../grid/contract.ts'
import { m } from '../../../messages.gen.ts'
import { type MenuItem, openMenu } from '../../../ui/menu.tsx'
import { whenHooksAreKnown } from '../../records/commands/trigger-webhooks.ts'
import type { TableContext } from '../../records/context/table-context.ts'
import { failedItems, recordItems } from '../../records/menus/cell-menu.ts'

export interface CardMenuRequest {
  id: RecordId
  /** Its row in the store; -1 if it has none. */
  index: number
  anchor: Element | { x: number; y: number }
  /** The selected records; the menu of a selected card applies to all of them. */
  checked?: CheckedRows
  /** Items of the view kind, before those of every record. */
  items?: MenuItem[]
}

/** The menu of a record's card: open, copy its link, duplicate, delete. */
export function openCardMenu(context: TableContext, request: CardMenuRequest): void {
  const { id, index, anchor, checked, items = [] } = request
  const chosen = checked?.kind === 'some' && isChecked(checked, id) ? [...checked.ids] : [id]
  const several = chosen.length > 1
  const isFailed = context.store.row(id)?.state === 'failed'
  openMenu(
    anchor,
    whenHooksAreKnown(context, () => [
      ...(several
        ? []
        : [{ kind: 'id', label: m.common_record(), value: String(context.store.realId(id)) } as const]),
      ...(isFailed && !several ? failedItems(context, id) : []),
      ...(several ? [] : items),
      ...recordItems(context, index, chosen),
    ]),
    several ? m.views_selected_records() : m.common_record(),
  )
}
