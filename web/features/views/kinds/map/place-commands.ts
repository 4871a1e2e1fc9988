import type { RecordId } from '../../../../../src/core/model.ts'
import { messageOf } from '../../../../errors.ts'
import { t } from '../../../../i18n.ts'
import type { LngLat } from '../../../../map/mercator.ts'
import { valueAt } from '../../../../map/place-value.ts'
import { toast } from '../../../../ui/toast.ts'
import { recordsApi } from '../../../records/api.ts'
import { inLine } from '../../../records/base-queue.ts'
import type { TableContext } from '../../../records/table-context.ts'
import { offerUndo, placeOf } from '../../../records/undo-commands.tsx'
import type { Places } from './places.ts'

/** Gives a record another place: its pin goes there at once, and back where the server refuses it. */
export async function movePlace(
  context: TableContext,
  places: Places,
  { id, geoFieldId, to }: { id: RecordId; geoFieldId: string; to: LngLat },
): Promise<void> {
  const value = valueAt(to)
  const { baseId, id: tableId } = context.schema.table
  const rows = [{ id, values: { [geoFieldId]: value } }]
  places.cover(id, value)
  try {
    const written = await inLine(baseId, () =>
      recordsApi.apply({ baseId, operations: [{ kind: 'update', tableId, rows }] }),
    )
    places.settle(id, value)
    context.store.take(written)
    offerUndo(placeOf(context), t('Location updated'), written.id)
  } catch (error) {
    places.settle(id, undefined)
    toast.error({ text: t('Location not updated. {reason}', { reason: messageOf(error) }) })
  }
}
