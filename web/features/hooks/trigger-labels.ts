import {
  HOOK_OPERATIONS,
  type HookDelivery,
  type HookEvent,
  type HookSettings,
} from '../../../src/core/hooks.ts'
import { m } from '../../messages.gen.ts'

export const OPERATION_LABELS: Record<HookDelivery['operation'], () => string> = {
  insert: m.hooks_operation_insert,
  update: m.hooks_operation_update,
  delete: m.hooks_operation_delete,
  trigger: m.hooks_operation_trigger,
}

export const EVENT_LABELS: Record<HookEvent, () => string> = {
  after: m.hooks_event_after,
  before: m.hooks_event_before,
  manual: m.hooks_event_manual,
  view: m.hooks_event_view,
  field: m.hooks_event_field,
}

/** When a webhook is called, e.g. “Record added · Record changed”. */
export function whenText({ event, operations }: Pick<HookSettings, 'event' | 'operations'>): string {
  if (event !== 'after' && event !== 'before') return EVENT_LABELS[event]()
  const labels = HOOK_OPERATIONS.filter((operation) => operations.includes(operation))
  return labels.map((operation) => OPERATION_LABELS[operation]()).join(' · ') || m.hooks_no_change()
}
