import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { parseRecordId } from '../../records/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ButtonsService } from '../buttons.ts'

/** `POST /api/v2/tables/{tableId}/records/{recordId}/buttons/{fieldId}`: presses a button. */
export function buttonsRest(
  kernel: Kernel,
  {
    auth,
    schema,
    buttons,
  }: { auth: AuthService; schema: Pick<SchemaReader, 'load'>; buttons: ButtonsService },
) {
  return new Elysia({ prefix: '/api/v2/tables/:tableId/records/:recordId/buttons' })
    .use(restBase(kernel, auth))
    .post(
      '/:fieldId',
      async ({ actor, params: { tableId, recordId, fieldId } }) => {
        const record = parseRecordId(await schema.load(tableId), recordId)
        return { deliveries: await buttons.press(actor, { tableId, fieldId, recordId: record }) }
      },
      { detail: { summary: 'Press a button of a record' } },
    )
}
