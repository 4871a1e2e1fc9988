import { type Bench, createBench, type FieldSpec, type TestTable } from '../records/support.ts'
import type { TestAppOptions } from '../support/app.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'
import { until } from '../support/until.ts'

type NewHook = Parameters<Bench['trpc']['hooks']['create']['mutate']>[0]

/** A received event. */
export interface Received {
  type: string
  id: string
  data: {
    table_id: string
    rows: Record<string, unknown>[]
    previous_rows?: Record<string, unknown>[]
    row_count?: number
  }
}

/** A bench whose webhooks call a local receiver. */
export interface HookBench extends Bench {
  receiver: OutboundRecorder
  /** A webhook that is called for all changes, unless the settings say otherwise. */
  hook(table: TestTable, settings?: Partial<NewHook>, payload?: object): Promise<string>
  /** Removes all webhooks, and forgets what was received. */
  clear(): Promise<void>
  /** Resolves when the webhooks have taken the log and nothing is to be sent. */
  settled(): Promise<void>
  /** The events received by a path, in order. */
  received(path?: string): Received[]
}

export async function createHookBench(
  config: TestAppOptions['config'] = {},
  database?: TestAppOptions['database'],
): Promise<HookBench> {
  const receiver = startOutboundRecorder()
  const bench = await createBench({
    ...(database && { database }),
    config: { allowLocalHttp: true, webhookRetryMs: 50, ...config },
  })
  const created = new Set<string>()
  return {
    ...bench,
    receiver,
    async clear() {
      for (const hookId of created) await bench.trpc.hooks.delete.mutate({ hookId })
      created.clear()
      receiver.clear()
    },
    async hook(table, settings = {}, payload = {}) {
      const { id } = await bench.trpc.hooks.create.mutate({
        tableId: table.id,
        title: 'Hook',
        event: 'after',
        operations: ['insert', 'update', 'delete'],
        channel: { type: 'URL', payload: { path: `${receiver.url}/hook`, ...payload } },
        ...settings,
      })
      created.add(id)
      return id
    },
    async settled() {
      const { services } = bench.app
      await services.records.feed.settled(bench.baseId)
      await until(async () => !(await services.hooks.isBusy(bench.baseId)), 'No webhook is busy')
    },
    received: (path = '/hook') =>
      receiver.requests
        .filter((request) => request.path.startsWith(path))
        .map(({ body }) => JSON.parse(body) as Received),
    async stop() {
      await bench.stop()
      await receiver.stop()
    },
  }
}

export type { FieldSpec, TestTable }
