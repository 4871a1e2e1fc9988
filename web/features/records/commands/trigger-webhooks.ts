import { Webhook } from 'lucide-react'
import { MAX_TRIGGERED } from '../../../../src/core/hooks.ts'
import type { RecordId } from '../../../../src/core/model.ts'
import { messageOf } from '../../../errors.ts'
import { formatNumber } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { api, cache, type Outputs } from '../../../trpc.ts'
import type { MenuItem } from '../../../ui/menu.tsx'
import { toast } from '../../../ui/toast.ts'
import { can, type TableContext } from '../context/table-context.ts'

type ManualHook = Outputs['hooks']['manual'][number]

/** How long a menu waits for the names of the webhooks when it is opened for the first time. */
const PATIENCE_MS = 300
/** The names are read again when a menu is opened after this time. */
const FRESH_MS = 5_000

/** True for people who may trigger the webhooks of a table. */
export const mayTrigger = (context: TableContext): boolean => !isVisitorPage && can(context, 'hook.trigger')

/** Builds the items of a menu once the webhooks of the table are known, or without them on a slow network. */
export function whenHooksAreKnown(
  context: TableContext,
  items: () => MenuItem[],
): MenuItem[] | Promise<MenuItem[]> {
  if (!mayTrigger(context)) return items()
  const input = { tableId: context.schema.table.id }
  const read = cache.hooks.manual.prefetch(input, { staleTime: FRESH_MS })
  if (cache.hooks.manual.getData(input)) return items()
  const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS))
  return Promise.race([read, patience]).then(items)
}

/** An item for each webhook that is triggered by hand, see `whenHooksAreKnown`. */
export function triggerItems(context: TableContext, ids: readonly RecordId[]): MenuItem[] {
  const saved = ids.filter((id) => context.store.row(id)?.state !== 'new')
  if (!mayTrigger(context) || saved.length === 0) return []
  const hooks = cache.hooks.manual.getData({ tableId: context.schema.table.id }) ?? []
  return [
    { kind: 'separator' },
    ...hooks.map(
      (hook): MenuItem => ({
        kind: 'action',
        label: m.records_trigger_webhook({ hook: hook.title }),
        icon: Webhook,
        disabledReason:
          saved.length > MAX_TRIGGERED
            ? m.records_too_many_at_once({ max: formatNumber(MAX_TRIGGERED) })
            : null,
        run: () => void triggerWebhook(context, hook, saved),
      }),
    ),
    { kind: 'separator' },
  ]
}

/** Triggers a webhook for records in one call, and shows how it ended. */
async function triggerWebhook(
  { store }: TableContext,
  { id: hookId, title: hook }: ManualHook,
  ids: readonly RecordId[],
): Promise<void> {
  const topic = `hook ${hookId}`
  const count = ids.length
  toast.info({ text: m.records_triggering_webhook({ hook, count }), topic })
  try {
    const deliveries = await api.hooks.trigger.mutate({ hookId, recordIds: ids.map(store.realId) })
    const problem = deliveries.find(({ error }) => error !== null)
    if (!problem) {
      toast.success({ text: m.records_webhook_triggered({ hook, count }), topic })
      return
    }
    const text = problem.status === 'waiting' ? m.cells_button_will_retry : m.cells_button_not_delivered
    toast.warning({ text: text({ problem: problem.error?.message ?? '' }), topic })
  } catch (error) {
    toast.error({ text: messageOf(error), topic })
  }
}
