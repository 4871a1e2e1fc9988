import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { startRestartablePostgres } from '../support/postgres.ts'

export const METRICS_TOKEN = 'a-token-of-Prometheus-for-metrics'

/** The answer to a request of one kind. */
export interface Answer {
  kind: string
  status: number
  retryAfter: string | null
  ms: number
}

/** Two servers on a PostgreSQL that can be stopped and frozen, with a table and public links. */
export type RestartWorld = Awaited<ReturnType<typeof startRestartWorld>>

/** @param hangsAfterMs a request without an answer fails then */
export async function startRestartWorld(hangsAfterMs: number) {
  const postgres = await startRestartablePostgres()
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-restart-'))
  const env = {
    DATABASE_URL: postgres.url,
    LOG_LEVEL: 'info',
    METRICS_TOKEN,
    // The requests are many, and come from one address.
    FORM_ANSWERS_PER_HOUR: '1000000',
    SIGN_UPS_PER_HOUR: '1000000',
  }
  const a = await startServerProcess(dataDir, env)
  const b = await startServerProcess(dataDir, env)
  const signUp = async (email: string) =>
    (await createTrpcClient(a.url).auth.signUp.mutate({ email, password: PASSWORD })).token
  const token = await signUp('ann@example.com')
  /** Who signs in, in turn: sign-ins without an answer count as failures, of which an account has few. */
  const others = Array.from({ length: 12 }, (_, at) => `other${at}@example.com`)
  for (const email of others) await signUp(email)
  const api = createTrpcClient(a.url, token)
  const baseId = (await api.bases.create.mutate({ title: 'B' })).id
  const { table, fields } = await api.schema.createTable.mutate({ baseId, title: 'T' })
  const tableId = table.id
  const titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
  const share = async (kind: 'form' | 'grid') => {
    const view = await api.views.create.mutate({ tableId, title: kind, kind })
    await api.views.arrange.mutate({
      viewId: view.id,
      fields: fields.map(({ id }, order) => ({ fieldId: id, show: id === titleId, order })),
    })
    return (await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })).id
  }
  /** Public links. */
  const link = { form: await share('form'), grid: await share('grid') }
  const path = `/api/v2/tables/${tableId}/records`
  let round = 0

  /** One request of each kind, by name. */
  function requests(): Record<string, () => Promise<Response>> {
    const visit = (id: string) => ({ 'xc-shared-view-id': id })
    const send = (to: string, headers: Record<string, string>, body?: unknown) => () =>
      fetch(`${a.url}${to}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(hangsAfterMs),
      })
    const trpc = (name: string, input: unknown, headers: Record<string, string> = { 'xc-auth': token }) =>
      send(`/trpc/${name}`, headers, input)
    const change = {
      baseId,
      operations: [{ kind: 'insert', tableId, rows: [{ values: { [titleId]: 'x' } }] }],
    }
    return {
      'REST list': send(path, { 'xc-auth': token }),
      'REST filter': send(`${path}?where=(Title,like,x)`, { 'xc-auth': token }),
      'REST insert': send(path, { 'xc-auth': token }, { Title: 'x' }),
      'REST bases': send('/api/v2/meta/bases', { 'xc-auth': token }),
      'tRPC table': trpc('schema.table', { tableId }),
      'tRPC insert': trpc('records.write', { change }),
      'tRPC new table': trpc('schema.createTable', { baseId, title: `New ${crypto.randomUUID()}` }),
      'tRPC sign-in': trpc('auth.signIn', { email: others[round % others.length], password: PASSWORD }, {}),
      'shared view': send(`/api/v1/db/public/shared-view/${link.grid}/rows`, {}),
      'form submission': send(
        `/api/v1/db/public/shared-view/${link.form}/rows`,
        {},
        { data: { Title: 'x' } },
      ),
      'tRPC form': trpc('shares.submit', { values: { [titleId]: 'x' } }, visit(link.form)),
    }
  }

  /** Sends one request of each kind at the same time. */
  const sendAll = (): Promise<Answer>[] => {
    round++
    return Object.entries(requests()).map(async ([kind, send]) => {
      const startedAt = performance.now()
      const { status, headers } = await send()
      return { kind, status, retryAfter: headers.get('retry-after'), ms: performance.now() - startedAt }
    })
  }

  return {
    postgres,
    a,
    b,
    token,
    baseId,
    tableId,
    titleId,
    path,
    sendAll,

    async stop(): Promise<void> {
      await postgres.start()
      await Promise.all([a.end('SIGTERM'), b.end('SIGTERM')])
      await postgres.remove()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
