import { nowMs } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { valuesOfButton } from '../../src/core/fields/button.ts'
import { NOW, startValue } from '../../src/core/fields/default-value.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { TriggeredDelivery } from '../../src/core/hooks.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { m } from '../../src/messages.gen.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaReader, TableModel } from '../schema/index.ts'
import type { HooksService } from './service.ts'

/** A press of a button field. */
export interface Press {
  tableId: string
  fieldId: string
  recordId: RecordId
  /** IANA name, for values of the current moment; UTC if absent. */
  timeZone?: string | undefined
}

export type ButtonsService = ReturnType<typeof createButtonsService>

/** Presses of buttons. Whoever may change a record may press its buttons. */
export function createButtonsService(
  schema: Pick<SchemaReader, 'openTable'>,
  records: Pick<RecordsService, 'apply'>,
  hooks: Pick<HooksService, 'manual' | 'trigger'>,
) {
  async function update(
    actor: Actor,
    { table, field }: TableModel,
    button: Field,
    press: Press,
  ): Promise<void> {
    const moment = { ms: nowMs(), timeZone: press.timeZone ?? 'UTC' }
    const values = Object.fromEntries(
      Object.entries(valuesOfButton(button)).map(([fieldId, value]) => {
        const target = field(fieldId)
        return [
          fieldId,
          value === NOW && target ? startValue({ type: target.type, defaultValue: NOW }, moment) : value,
        ]
      }),
    )
    const rows = [{ id: press.recordId, values }]
    await records.apply(actor, {
      baseId: table.baseId,
      operations: [{ kind: 'update', tableId: table.id, rows }],
      timeZone: moment.timeZone,
    })
  }

  return {
    /**
     * Calls the webhook of a button, or writes its values into the record. Returns the deliveries.
     *
     * @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND, RECORD_NOT_FOUND, HOOK_NOT_FOUND; BAD_REQUEST for a field that is no
     *   button, that is broken, or that opens a URL, which the client does
     */
    async press(actor: Actor, press: Press): Promise<TriggeredDelivery[]> {
      const { tableId, fieldId, recordId } = press
      const model = await schema.openTable(actor, 'record.update', tableId)
      const button = model.field(fieldId)
      if (!button) throw notFound('Field', fieldId.slice(0, 64))
      const { kind, webhookId } = button.options
      if (fieldType(button.type).computed !== 'button' || kind === 'url') {
        throw badRequest(m.hooks_error_no_action({ field: button.title }))
      }
      if (button.error !== null) throw badRequest(button.error)
      if (kind === 'webhook') {
        if (typeof webhookId !== 'string') throw badRequest(m.hooks_error_no_webhook({ field: button.title }))
        // A webhook of another table would be triggered for a record with the same id there.
        const ofTable = await hooks.manual(actor, tableId)
        if (!ofTable.some(({ id }) => id === webhookId)) throw notFound('Hook', webhookId)
        return hooks.trigger(actor, webhookId, [recordId])
      }
      await update(actor, model, button, press)
      return []
    },
  }
}
