import type { Hook } from '../../../src/core/hooks.ts'
import type { Person, Table } from '../../../src/core/model.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import type { TableModel } from '../../schema/index.ts'
import { presentFilters } from '../../views/index.ts'
import type { DeliveryRow } from '../store.ts'

/** A webhook (wire §11). */
export function presentHook(hook: Hook, table: Table) {
  return {
    id: hook.id,
    source_id: table.sourceId,
    base_id: hook.baseId,
    fk_model_id: hook.tableId,
    title: hook.title,
    description: hook.description,
    env: 'all',
    type: null,
    event: hook.event,
    operation: hook.event === 'manual' ? ['trigger'] : hook.operations,
    async: false,
    payload: true,
    url: null,
    headers: null,
    condition: hook.isConditional,
    notification: JSON.stringify(hook.channel),
    retries: 0,
    retry_interval: 60_000,
    timeout: 60_000,
    active: hook.isActive,
    created_at: wireTime(hook.createdAt),
    updated_at: wireTime(hook.updatedAt),
    version: 'v3',
    trigger_field: hook.triggerFieldIds.length > 0,
    trigger_fields: hook.triggerFieldIds,
  }
}

/** The conditions of a webhook, as view filters are presented. */
export const presentHookFilters = ({ id, createdAt, updatedAt, filter }: Hook, model: TableModel) =>
  presentFilters(model, { viewId: null, hookId: id, createdAt, updatedAt }, filter)

/** A call of a webhook (wire §11), with request and response as JSON text. */
export function presentLog(hook: Hook, row: DeliveryRow, people: readonly Person[]) {
  const { request, response } = row
  const at = wireTime(new Date(row.createdAt).toISOString())
  return {
    id: row.id,
    base_id: row.baseId,
    fk_hook_id: row.hookId,
    type: hook.channel.type,
    event: hook.event,
    operation: row.operation,
    test_call: row.isTest,
    payload: request && JSON.stringify(request),
    conditions: hook.isConditional && hook.filter ? JSON.stringify(hook.filter) : null,
    notification: JSON.stringify({ type: hook.channel.type }),
    error_code: row.errorCode,
    error_message: row.errorMessage,
    error: row.errorMessage,
    execution_time: row.durationMs,
    response:
      response &&
      JSON.stringify({
        status: response.status,
        statusText: response.statusText,
        headers: Object.fromEntries(response.headers),
        data: response.body,
      }),
    triggered_by: people.find(({ id }) => id === row.triggeredBy)?.email ?? null,
    created_at: at,
    updated_at: row.endedAt === null ? at : wireTime(new Date(row.endedAt).toISOString()),
  }
}
