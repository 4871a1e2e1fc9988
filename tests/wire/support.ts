import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import type { RestAnswer } from '../support/client.ts'

/** Where metadata is (wire §1.1). */
export const M = '/api/v1/db/meta'

export const JSON_TYPE = 'application/json; charset=utf-8'
export const TEXT_TYPE = 'text/html; charset=utf-8'

/** A server with its super admin, and a base of theirs. */
export type Shop = Awaited<ReturnType<typeof openShop>>

/** Starts a server with one base; to be stopped by `shop.app.stop()`. */
export async function openShop() {
  const app = await createTestApp()
  const admin = await app.signUp('ann@example.com')
  const rest = app.rest(admin.token)
  const base = (await rest.post(`${M}/projects/`, { title: 'Wire' })).body
  return { app, admin, rest, base, baseId: String(base.id), sourceId: String(base.sources[0].id) }
}

/** A table with the columns as REST clients send them, beside Id and Title. */
export async function createTable({ rest, baseId }: Shop, title: string, columns: object[] = []) {
  const { status, body } = await rest.post(`${M}/projects/${baseId}/tables`, {
    title,
    columns: [
      { column_name: 'id', title: 'Id', uidt: 'ID' },
      { column_name: 'title', title: 'Title', uidt: 'SingleLineText', pv: true },
      ...columns,
    ],
  })
  if (status !== 200) throw new Error(`No table: ${JSON.stringify(body)}`)
  return body
}

/** The column of a table's answer with this title. */
export const column = (table: { columns: { id: string; title: string }[] }, title: string) => {
  const found = table.columns.find((candidate) => candidate.title === title)
  if (!found) throw new Error(`No column ${title}`)
  return found
}

/** Someone new with a role in the shop's base. */
export async function join(
  { app, baseId }: Shop,
  role: 'viewer' | 'editor' | 'no-access',
): Promise<TestUser> {
  const user = await app.signUp()
  await app.services.auth.access.setMembership(baseId, user.id, role)
  return user
}

/** Sends a request as it is: no header that was not asked for, and the answer's text unread. */
export async function raw(app: TestApp, method: string, path: string, init: RequestInit = {}) {
  const answer = await fetch(`${app.url}${path}`, { method, redirect: 'manual', ...init })
  const type = answer.headers.get('content-type')
  return { status: answer.status, type, text: await answer.text(), headers: answer.headers }
}

/** Status and body of an answer, to be compared in one go. */
export const outcome = ({ status, body }: RestAnswer) => [status, body]

/** A bare scalar: its text, sent as HTML (wire §1.3). */
export const scalarOf = ({ status, body, headers }: RestAnswer) => [status, headers.get('content-type'), body]
