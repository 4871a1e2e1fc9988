import type { Gate } from './actors.ts'
import { SHARE_ROUTES } from './share-routes.ts'
import { VIEW_ROUTES } from './view-routes.ts'
import { NO_JOB, NOBODY, type World } from './world.ts'

/** How one route is tried. */
export interface RouteCase {
  gate: Gate
  body?: (world: World) => unknown
  /** Query string, with its question mark. */
  query?: (world: World) => string
  /** Values of path parameters that the world does not have by that name. */
  params?: (world: World) => Record<string, string> | Promise<Record<string, string>>
  headers?: Record<string, string>
  /** What those who are let through are answered; a success unless named. */
  answers?: number
  /** The code for all who hold the right but are not the super admin, who made what it concerns. */
  others?: string
}

/** Routes of the same handlers are one case: the newer and older address of each, and a view's records. */
export const asCase = (path: string): string =>
  path
    .replace(/(.)\/$/, '$1')
    .replace(
      /^\/api\/v2\/meta\/bases(\/:baseId\/)?(sources)?/,
      (_, base = '', sources) => `/api/v1/db/meta/projects${base}${sources ? 'bases' : ''}`,
    )
    .replace(/^\/api\/v2\/meta\/user\//, '/api/v1/user/')
    .replace(/^\/api\/(v1|v2)\/meta\//, '/api/v1/db/meta/')
    .replace(/^\/(api\/v1\/db\/|api\/v2\/|api\/v1\/)?auth\//, 'AUTH/')
    .replace(/^\/api\/v1\/db\/meta\//, 'M/')
    .replace(/^\/api\/(v1\/db|v2)\/public\//, 'P/')
    .replace(/^\/api\/v1\/db\/data\/bulk\/:orgs\/:base\/:table/, 'BULK')
    .replace(/^\/api\/v1\/db\/data\/:orgs\/:base\/:table(\/views\/:view)?/, 'D')
    .replace(/^\/api\/v2\/tables\/:tableId\/records/, 'RECORDS')
    .replace(/^\/api\/v2\/tables\/:tableId\/links\/:linkFieldId\/records/, 'LINKS')

const token = () => ({ token: crypto.randomUUID() })
const record = ({ recordId }: World) => ({ Id: recordId, Note: 'b' })
const ownToken = async (world: World) => ({
  tokenId: String((await world.rest.post('/api/v1/tokens')).body.id),
})
const CALENDAR = '/api/v1/db/calendar-data/:orgs/:base/:table/views/:view'
const PERIOD = '?from_date=2024-03-01&to_date=2024-03-31'
const calendar = async ({ rest, tableId }: World) => {
  const { columns } = (await rest.get(`/api/v2/meta/tables/${tableId}`)).body
  const created = columns.find(({ uidt }: { uidt: string }) => uidt === 'CreatedTime')
  const { body } = await rest.post(`/api/v2/meta/tables/${tableId}/calendars`, {
    title: 'Calendar',
    calendar_range: [{ fk_from_column_id: created.id }],
  })
  return { view: body.id }
}
const lists = () => [{ alias: 'a', column_name: 'Note' }]
const link = async (world: World) => {
  const linkFieldId = await world.link()
  return { linkFieldId, column: linkFieldId, relation: 'mm', refId: String(world.recordId) }
}
const jobId = () => ({ jobId: NO_JOB })
const noImport = () => ({ importId: 'impnone' })
/** An address of this server, which imports may not use. */
const ofOtherProduct = ({ baseId }: World) => ({
  baseId,
  from: { source: 'nocodb', credentials: { address: 'http://127.0.0.1:1', token: 'none' } },
})
const nobody = () => ({ userId: NOBODY })
const newTable = () => ({ title: 'New', columns: [{ title: 'A', uidt: 'SingleLineText' }] })

const slackPlugin = () => ({ pluginId: 'slack' })
const commentsOf = ({ tableId, recordId }: World) => `?fk_model_id=${tableId}&row_id=${recordId}`
const newComment = ({ tableId, recordId }: World) => ({
  fk_model_id: tableId,
  row_id: String(recordId),
  comment: 'Why?',
})
const newHook = () => ({
  title: 'Called',
  version: 'v3',
  event: 'after',
  operation: ['insert'],
  active: false,
  notification: { type: 'URL', payload: { path: 'https://example.com/' } },
})
const hook = async (world: World) => {
  const { id } = (await world.rest.post(`/api/v2/meta/tables/${world.tableId}/hooks`, newHook())).body
  return { hookId: id }
}
const manualHook = async (world: World) => {
  const manual = { ...newHook(), event: 'manual', operation: ['trigger'], active: true }
  const { id } = (await world.rest.post(`/api/v2/meta/tables/${world.tableId}/hooks`, manual)).body
  return { hookId: id, rowId: String(world.recordId) }
}
const button = async ({ rest, tableId, recordId }: World) => {
  const title = `Button ${crypto.randomUUID()}`
  const { body } = await rest.post(`/api/v2/meta/tables/${tableId}/columns`, {
    uidt: 'Button',
    title,
    type: 'update',
  })
  const column = body.columns.find((one: { title: string }) => one.title === title)
  return { tableId, recordId: String(recordId), fieldId: column.id }
}
const comment = async (world: World) => {
  const { id } = (await world.rest.post('/api/v2/meta/comments', newComment(world))).body
  return { commentId: id, auditId: id }
}

/** Every REST route with the right that it asks for. One that is missing here fails the access test. */
export const ROUTES: Record<string, RouteCase> = {
  'POST AUTH/user/signup': { gate: 'anyone', answers: 400 },
  'POST AUTH/user/signin': {
    gate: 'anyone',
    body: ({ baseId }) => ({ email: `nobody-${baseId}@example.com`, password: 'x' }),
    answers: 400,
  },
  'GET AUTH/user/me': { gate: 'anyone' },
  'POST AUTH/token/refresh': { gate: 'anyone', answers: 400 },
  'POST AUTH/password/change': { gate: 'account.password', answers: 400 },
  'POST AUTH/password/forgot': { gate: 'anyone', body: () => ({ email: 'a@example.com' }) },
  'POST AUTH/token/validate/:token': { gate: 'anyone', params: token, answers: 400 },
  'POST AUTH/password/reset/:token': { gate: 'anyone', params: token, answers: 400 },
  'GET AUTH/password/reset/:token': { gate: 'anyone', params: token, answers: 302 },
  'POST AUTH/google/genTokenByCode': { gate: 'anyone', answers: 400 },
  'POST AUTH/github/genTokenByCode': { gate: 'anyone', answers: 400 },
  'POST AUTH/oidc/genTokenByCode': { gate: 'anyone', answers: 400 },
  'POST AUTH/email/validate/:token': { gate: 'anyone', params: token, answers: 400 },
  'PATCH /api/v1/user/profile': { gate: 'account.update' },

  'GET /api/v1/users': { gate: 'user.list' },
  'POST /api/v1/users': {
    gate: 'user.create',
    body: () => ({ email: `${crypto.randomUUID()}@example.com` }),
  },
  'GET /api/v1/users/:userId': { gate: 'user.list', params: nobody, answers: 404 },
  'PATCH /api/v1/users/:userId': {
    gate: 'user.update',
    params: nobody,
    body: () => ({ roles: 'org-level-viewer' }),
    answers: 400,
  },
  'DELETE /api/v1/users/:userId': { gate: 'user.delete', params: nobody, answers: 400 },
  'POST /api/v1/users/:userId/resend-invite': { gate: 'user.create', answers: 400 },
  'POST /api/v1/users/:userId/generate-reset-url': { gate: 'user.reset-password' },
  'GET /api/v1/tokens': { gate: 'token.list' },
  'POST /api/v1/tokens': { gate: 'token.create' },
  'DELETE /api/v1/tokens/:tokenId': { gate: 'token.delete', params: () => ({ tokenId: '0' }), answers: 400 },
  'GET /api/v1/app-settings': { gate: 'settings.read' },
  'POST /api/v1/app-settings': { gate: 'settings.update' },
  'GET /api/v1/license': { gate: 'settings.read' },
  'POST /api/v1/license': { gate: 'settings.update', body: () => ({ key: 'abc' }) },
  'GET /api/v1/version': { gate: 'anyone' },
  'GET /api/v1/health': { gate: 'anyone' },
  'GET /api/v1/ready': { gate: 'anyone' },
  // Without METRICS_TOKEN.
  'GET /metrics': { gate: 'anyone', answers: 404 },
  'GET M/nocodb/info': { gate: 'anyone' },
  'GET M/cache': { gate: 'settings.read' },
  'DELETE M/cache': { gate: 'settings.update' },
  'POST M/connection/test': {
    gate: 'source.create',
    body: ({ baseId }) => ({ base_id: baseId, client: 'sqlite3', connection: { filename: 'none' } }),
  },
  'POST M/axiosRequestMake': { gate: 'account.read', body: () => ({ apiMeta: { url: 'none' } }) },
  'POST /api/v1/url_to_config': { gate: 'anyone', body: () => ({ url: 'pg://host/db' }) },
  'POST /api/v1/error-reporting': { gate: 'anyone' },
  'GET /api/v1/aggregated-meta-info': { gate: 'instance.report' },
  'POST /api/v1/command_palette': { gate: 'base.list' },

  'POST M/duplicate/:baseId': { gate: 'base.duplicate' },
  'POST M/duplicate/:baseId/:sourceId': { gate: 'base.duplicate' },
  'POST M/duplicate/:baseId/table/:tableId': { gate: 'table.duplicate' },
  'POST M/duplicate/:baseId/column/:columnId': { gate: 'field.duplicate' },
  'GET M/tables/:tableId/copy': { gate: 'record.export' },
  'POST M/tables/:tableId/copy': { gate: 'table.create', body: ({ baseId }) => ({ baseId }) },
  'GET D/export/:type': { gate: 'record.export', params: () => ({ type: 'csv' }) },
  'POST M/projects/:baseId/export/sheaf': { gate: 'base.export' },
  'POST M/base-files': { gate: 'base.create', answers: 400 },
  'POST M/projects/:baseId/export/:type': { gate: 'record.export', params: () => ({ type: 'csv' }) },
  'POST /api/v2/export/:viewId/:type': { gate: 'record.export', params: () => ({ type: 'csv' }) },

  'POST /api/v1/db/storage/upload': { gate: 'file.create', answers: 400 },
  'POST /api/v2/storage/upload': { gate: 'file.create', answers: 400 },
  'POST /api/v1/db/storage/upload-by-url': { gate: 'file.create', answers: 400 },
  'POST /api/v2/storage/upload-by-url': { gate: 'file.create', answers: 400 },
  // Their signature is the right; see tests/records/attachments-security.test.ts.
  'GET /dltemp/:signature/:expiry/*': {
    gate: 'anyone',
    params: () => ({ signature: 'x', expiry: '1' }),
    answers: 404,
  },
  'GET /download/*': { gate: 'file.read', answers: 404 },
  'GET /api/v2/downloadAttachment/:tableId/:fieldId/:recordId': { gate: 'record.list', answers: 404 },

  'GET M/projects': { gate: 'base.list' },
  'POST M/projects': { gate: 'base.create', body: () => ({ title: 'New' }) },
  'GET M/projects/:baseId': { gate: 'base.read' },
  'PATCH M/projects/:baseId': { gate: 'base.update' },
  'DELETE M/projects/:baseId': { gate: 'base.delete' },
  'PATCH M/projects/:baseId/user': { gate: 'base.reorder' },
  'GET M/projects/:baseId/info': { gate: 'base.read' },
  'GET M/projects/:baseId/has-empty-or-null-filters': { gate: 'base.read' },
  'GET M/projects/:baseId/api-tokens': { gate: 'base.tokens' },
  'POST M/projects/:baseId/api-tokens': { gate: 'base.tokens' },
  // It is the super admin's token: the first who may delete tokens here does not find it among theirs.
  'DELETE M/projects/:baseId/api-tokens/:tokenId': { gate: 'base.tokens', params: ownToken, answers: 400 },
  'GET M/projects/:baseId/users': { gate: 'member.list' },
  'POST M/projects/:baseId/users': {
    gate: 'member.create',
    body: () => ({ email: `${crypto.randomUUID()}@example.com`, roles: 'viewer' }),
  },
  'PATCH M/projects/:baseId/users/:userId': { gate: 'member.update', body: () => ({ roles: 'viewer' }) },
  'DELETE M/projects/:baseId/users/:userId': { gate: 'member.delete' },
  'POST M/projects/:baseId/users/:userId/resend-invite': { gate: 'member.update', answers: 400 },

  'GET M/projects/:baseId/bases': { gate: 'source.list' },
  'POST M/projects/:baseId/bases': { gate: 'source.create', answers: 400 },
  'GET M/projects/:baseId/bases/:sourceId': { gate: 'source.list' },
  'PATCH M/projects/:baseId/bases/:sourceId': { gate: 'source.update', body: () => ({ alias: 'Own' }) },
  'DELETE M/projects/:baseId/bases/:sourceId': { gate: 'source.delete', answers: 400 },
  'GET M/projects/:baseId/meta-diff': { gate: 'source.update' },
  'GET M/projects/:baseId/meta-diff/:sourceId': { gate: 'source.update' },
  'POST M/projects/:baseId/meta-diff': { gate: 'source.update' },
  'POST M/projects/:baseId/meta-diff/:sourceId': { gate: 'source.update' },
  'GET M/projects/:baseId/swagger.json': { gate: 'table.list' },
  'GET M/projects/:baseId/swagger': { gate: 'anyone' },
  'GET M/projects/:baseId/redoc': { gate: 'anyone' },
  'GET M/projects/:baseId/tables': { gate: 'table.list' },
  'POST M/projects/:baseId/tables': { gate: 'table.create', body: newTable },
  'GET M/projects/:baseId/:sourceId/tables': { gate: 'table.list' },
  'POST M/projects/:baseId/:sourceId/tables': { gate: 'table.create', body: newTable },
  'GET M/tables/:tableId': { gate: 'table.read' },
  'PATCH M/tables/:tableId': {
    gate: 'table.update',
    body: () => ({ title: 'Renamed', table_name: 'Renamed' }),
  },
  'DELETE M/tables/:tableId': { gate: 'table.delete' },
  'POST M/tables/:tableId/reorder': { gate: 'table.update', body: () => ({ order: 3 }) },
  'GET /api/v1/notifications': { gate: 'notification.read' },
  'GET /api/v1/notifications/poll': { gate: 'notification.read', query: () => '?wait=0' },
  'PATCH /api/v1/notifications/:notificationId': {
    gate: 'notification.update',
    params: () => ({ notificationId: 'none' }),
    body: () => ({ is_read: true }),
  },
  'DELETE /api/v1/notifications/:notificationId': {
    gate: 'notification.update',
    params: () => ({ notificationId: 'none' }),
  },
  'POST /api/v1/notifications/mark-all-read': { gate: 'notification.update' },
  'POST /api/v1/notifications/unsubscribe/:token': { gate: 'anyone', params: token, answers: 400 },
  'GET M/backups': { gate: 'backup.read', answers: 400 },
  'POST M/backups': { gate: 'backup.update', answers: 400 },
  'POST M/backups/:backupId/test': {
    gate: 'backup.update',
    params: () => ({ backupId: 'none' }),
    answers: 400,
  },
  'POST M/backups/:backupId/restore': {
    gate: 'backup.restore',
    params: () => ({ backupId: 'none' }),
    body: () => ({ confirm: 'none' }),
    answers: 400,
  },
  'POST M/backups/bases/:baseId/restore': {
    gate: 'backup.restore',
    params: ({ baseId }) => ({ baseId }),
    body: () => ({ at: '2200-01-01T00:00:00Z' }),
    answers: 400,
  },
  'POST M/backups/:backupId/bases/:baseId/restore': {
    gate: 'backup.restore',
    params: ({ baseId }) => ({ backupId: 'none', baseId }),
    answers: 400,
  },
  'GET M/plugins': { gate: 'plugin.read' },
  'GET M/plugins/webhook': { gate: 'plugin.read' },
  'GET M/plugins/:pluginId': { gate: 'plugin.read', params: slackPlugin },
  'GET M/plugins/:pluginId/status': { gate: 'plugin.read', params: slackPlugin },
  'PATCH M/plugins/:pluginId': {
    gate: 'plugin.update',
    params: slackPlugin,
    body: () => ({ active: true, input: '[]' }),
    answers: 400,
  },
  'POST M/plugins/test': {
    gate: 'plugin.update',
    body: () => ({ title: 'Slack', category: 'Chat', input: '[]' }),
    answers: 400,
  },
  'GET M/comments': { gate: 'comment.list', query: commentsOf },
  'POST M/comments': { gate: 'comment.create', body: newComment },
  'GET M/comments/count': {
    gate: 'comment.list',
    query: ({ tableId, recordId }) => `?fk_model_id=${tableId}&ids[]=${recordId}`,
  },
  'PATCH M/comment/:commentId': {
    gate: 'comment.create',
    params: comment,
    body: () => ({ comment: 'Because' }),
    others: 'AUTHENTICATION_REQUIRED',
  },
  'DELETE M/comment/:commentId': { gate: 'comment.moderate', params: comment },
  'POST M/comment/:commentId/resolve': { gate: 'comment.create', params: comment },
  'GET M/tables/:tableId/hooks': { gate: 'hook.list' },
  'POST M/tables/:tableId/hooks': { gate: 'hook.create', body: newHook },
  'POST M/tables/:tableId/hooks/test': {
    gate: 'hook.update',
    body: () => ({
      hook: { ...newHook(), notification: { type: 'URL', payload: { path: 'http://127.0.0.1:1/' } } },
    }),
    answers: 400,
  },
  'GET M/tables/:tableId/hooks/samplePayload/:event/:operation/:version': {
    gate: 'hook.list',
    params: () => ({ event: 'after', operation: 'insert', version: 'v3' }),
  },
  'GET M/tables/:tableId/hooks/samplePayload/:event/:operation': {
    gate: 'hook.list',
    params: () => ({ event: 'insert', operation: 'v2' }),
  },
  'PATCH M/hooks/:hookId': { gate: 'hook.update', params: hook, body: newHook },
  'DELETE M/hooks/:hookId': { gate: 'hook.delete', params: hook },
  'GET M/hooks/:hookId/filters': { gate: 'hook.list', params: hook },
  'POST M/hooks/:hookId/filters': {
    gate: 'hook.update',
    params: hook,
    body: ({ fieldId }) => ({ fk_column_id: fieldId, comparison_op: 'notblank' }),
  },
  'GET M/hooks/:hookId/logs': { gate: 'hook.list', params: hook },
  'POST RECORDS/:recordId/buttons/:fieldId': {
    gate: 'record.update',
    params: button,
  },
  'POST M/hooks/:hookId/trigger/:rowId': { gate: 'hook.trigger', params: manualHook },
  'GET M/audits': { gate: 'audit.list' },
  'GET M/audits/comments': { gate: 'comment.list', query: commentsOf },
  'POST M/audits/comments': { gate: 'comment.create', body: newComment },
  'GET M/audits/comments/count': {
    gate: 'comment.list',
    query: ({ tableId, recordId }) => `?fk_model_id=${tableId}&ids[]=${recordId}`,
  },
  'PATCH M/audits/:auditId/comment': {
    gate: 'comment.create',
    params: comment,
    body: () => ({ description: 'Because' }),
    others: 'AUTHENTICATION_REQUIRED',
  },
  'GET M/tables/:tableId/indexes': { gate: 'table.indexes' },
  'POST M/tables/:tableId/indexes': {
    gate: 'table.indexes',
    body: ({ fieldId }) => ({ terms: [{ fieldId }] }),
  },
  'DELETE M/tables/:tableId/indexes/:indexId': {
    gate: 'table.indexes',
    params: () => ({ indexId: 'none' }),
    answers: 404,
  },
  'GET M/tables/:tableId/performance': { gate: 'table.indexes' },
  'GET M/tables/:tableId/performance/:viewId': { gate: 'table.indexes' },
  'GET M/tables/:tableId/columns/hash': { gate: 'table.read' },
  'POST M/tables/:tableId/columns': { gate: 'field.create', body: () => ({ title: 'New', uidt: 'Number' }) },
  'POST M/tables/:tableId/columns/bulk': {
    gate: 'field.update',
    body: () => ({ hash: 'old', ops: [] }),
    answers: 409,
  },
  'GET M/columns/:columnId': { gate: 'field.update' },
  'PATCH M/columns/:columnId': {
    gate: 'field.update',
    body: () => ({ title: 'Renamed', uidt: 'SingleLineText' }),
  },
  'DELETE M/columns/:columnId': { gate: 'field.delete' },
  'POST M/columns/:columnId/primary': { gate: 'field.update' },

  ...VIEW_ROUTES,
  ...SHARE_ROUTES,

  [`GET ${CALENDAR}`]: { gate: 'record.list', query: () => PERIOD, params: calendar },
  [`GET ${CALENDAR}/countByDate`]: { gate: 'record.list', query: () => PERIOD, params: calendar },
  'GET /api/v2/tables/:tableId/aggregate': { gate: 'record.list' },
  'POST /api/v2/tables/:tableId/bulk/dataList': { gate: 'record.list', body: lists },
  'POST /api/v2/tables/:tableId/bulk/datalist': { gate: 'record.list', body: lists },
  'POST /api/v2/tables/:tableId/bulk/group': { gate: 'record.list', body: lists },
  'GET RECORDS': { gate: 'record.list' },
  'GET RECORDS/count': { gate: 'record.list' },
  'GET RECORDS/:recordId': { gate: 'record.list' },
  'POST RECORDS': { gate: 'record.create', body: () => ({ Note: 'b' }) },
  // The records are in this table already.
  'POST RECORDS/copy': {
    gate: 'record.create',
    body: ({ tableId, recordId }) => ({ targetTableId: tableId, ids: [recordId] }),
    answers: 400,
  },
  'POST RECORDS/copy/preview': {
    gate: 'record.create',
    body: ({ tableId, recordId }) => ({ targetTableId: tableId, ids: [recordId] }),
    answers: 400,
  },
  'PATCH RECORDS': { gate: 'record.update', body: record },
  'PUT RECORDS': { gate: 'record.update', body: record },
  'DELETE RECORDS': { gate: 'record.delete', body: ({ recordId }) => ({ Id: recordId }) },
  'POST RECORDS/:recordId/move': { gate: 'record.update' },
  'GET /api/v2/tables/:tableId/history': { gate: 'record.undo' },
  'GET M/projects/:baseId/history': { gate: 'record.undo' },
  'POST M/projects/:baseId/history/undo': { gate: 'record.undo' },
  'POST M/projects/:baseId/history/redo': { gate: 'record.undo' },
  'GET M/projects/:baseId/audits': { gate: 'base.activity' },
  'GET M/projects/:baseId/history/:entryId/revert': {
    gate: 'record.undo',
    params: () => ({ entryId: '999999' }),
    answers: 404,
  },
  'POST M/projects/:baseId/history/:entryId/revert': {
    gate: 'record.undo',
    params: () => ({ entryId: '999999' }),
    answers: 404,
  },
  'POST M/base-imports/inspect': { gate: 'import.create', body: ofOtherProduct, answers: 400 },
  'POST M/base-imports/describe': {
    gate: 'import.create',
    body: (world) => ({ ...ofOtherProduct(world), sourceBaseId: 'x' }),
    answers: 400,
  },
  'POST M/base-imports': {
    gate: 'import.create',
    body: (world) => ({ ...ofOtherProduct(world), sourceBaseId: 'x' }),
    answers: 400,
  },
  'GET M/base-imports': { gate: 'account.read' },
  'GET M/base-imports/:importId': { gate: 'account.read', params: noImport, answers: 404 },
  'POST M/base-imports/:importId/pause': { gate: 'account.read', params: noImport, answers: 404 },
  'POST M/base-imports/:importId/resume': { gate: 'account.read', params: noImport, answers: 404 },
  'POST M/base-imports/:importId/again': { gate: 'account.read', params: noImport, answers: 404 },
  'POST M/base-imports/:importId/cancel': { gate: 'account.read', params: noImport, answers: 404 },
  'DELETE M/base-imports/:importId/credentials': { gate: 'account.read', params: noImport, answers: 404 },
  'GET M/base-imports/:importId/people': { gate: 'account.read', params: noImport, answers: 404 },
  'POST M/base-imports/:importId/people': {
    gate: 'account.read',
    params: noImport,
    body: () => ({ key: 'ann@example.com', memberId: null }),
    answers: 404,
  },
  'GET M/base-imports/:importId/report': { gate: 'account.read', params: noImport, answers: 404 },
  'GET M/jobs/:jobId': { gate: 'account.read', params: jobId, answers: 404 },
  'POST M/jobs/:jobId/cancel': { gate: 'account.read', params: jobId, answers: 404 },
  'GET M/jobs/:jobId/report': { gate: 'account.read', params: jobId, answers: 404 },
  'POST M/imports/files': {
    gate: 'import.create',
    query: ({ baseId }) => `?baseId=${baseId}`,
    answers: 400,
  },
  // Nothing names a file.
  'POST M/projects/:baseId/import': { gate: 'import.create', answers: 400 },
  'POST M/projects/:baseId/import/analysis': { gate: 'import.create', answers: 400 },
  // What is sent is no file.
  'POST /api/v2/tables/:tableId/import': { gate: 'import.append', answers: 400 },
  'GET /api/v2/tables/:tableId/restore': {
    gate: 'record.rewind',
    query: () => '?before=999999',
    answers: 400,
  },
  'POST /api/v2/tables/:tableId/restore': {
    gate: 'record.rewind',
    body: () => ({ before: 999_999 }),
    answers: 400,
  },
  'GET RECORDS/:recordId/versions/:entryId': {
    gate: 'record.restore',
    params: () => ({ entryId: '999999' }),
    answers: 404,
  },
  'POST RECORDS/:recordId/versions/:entryId': {
    gate: 'record.restore',
    params: () => ({ entryId: '999999' }),
    answers: 404,
  },
  'POST M/audits/rows/:rowId/update': {
    gate: 'record.update',
    params: ({ recordId }) => ({ rowId: String(recordId) }),
    body: ({ tableId }) => ({ fk_model_id: tableId, column_name: 'Nothing', value: 'b', prev_value: 'a' }),
    answers: 404,
  },
  'GET M/projects/:baseId/search': { gate: 'record.list', query: () => '?search=a' },
  'GET M/projects/:baseId/trash': { gate: 'field.create' },
  'DELETE M/projects/:baseId/trash': {
    gate: 'view.purge',
    body: () => ({ changeId: 999_999 }),
    answers: 404,
  },
  'GET M/projects/:baseId/trash/items': { gate: 'record.restore' },
  'POST M/projects/:baseId/trash/restore': {
    gate: 'record.restore',
    body: ({ tableId }) => ({ items: [{ kind: 'record', tableId, recordId: 999_999 }] }),
    answers: 404,
  },
  'POST M/projects/:baseId/trash/purge': {
    gate: 'record.purge',
    body: ({ tableId }) => ({ items: [{ kind: 'record', tableId, recordId: 999_999 }] }),
    answers: 404,
  },
  'POST M/projects/:baseId/trash/empty': { gate: 'record.purge' },
  'GET M/projects/:baseId/trash/settings': { gate: 'record.restore' },
  'PATCH M/projects/:baseId/trash/settings': { gate: 'base.storage', body: () => ({ days: 7 }) },
  'GET M/trash/bases': { gate: 'base.list' },
  'GET M/trash/items': { gate: 'base.list' },
  'POST M/trash/bases/:baseId/restore': {
    gate: 'base.restore',
    params: async ({ trpc, baseId }) => {
      await trpc.bases.delete.mutate({ baseId })
      return { baseId }
    },
  },
  'DELETE M/trash/bases/:baseId': {
    gate: 'base.purge',
    params: async ({ trpc, baseId }) => {
      await trpc.bases.delete.mutate({ baseId })
      return { baseId }
    },
  },
  'GET /api/v2/tables/:tableId/trash': { gate: 'record.restore' },
  'POST /api/v2/tables/:tableId/trash/restore': {
    gate: 'record.restore',
    body: () => ({ recordIds: [999_999] }),
    answers: 404,
  },
  'DELETE /api/v2/tables/:tableId/trash': {
    gate: 'record.purge',
    body: () => ({ recordIds: [999_999] }),
    answers: 404,
  },
  'GET LINKS/:recordId': { gate: 'record.list', params: link },
  'POST LINKS/:recordId': { gate: 'record.update', params: link, body: ({ recordId }) => [{ Id: recordId }] },
  'DELETE LINKS/:recordId': {
    gate: 'record.update',
    params: link,
    body: ({ recordId }) => [{ Id: recordId }],
  },
  'POST LINKS': {
    gate: 'record.update',
    params: link,
    body: ({ recordId: rowId }) => [
      { operation: 'copy', rowId },
      { operation: 'paste', rowId },
    ],
  },
  'POST BULK': { gate: 'record.create', body: () => [{ Note: 'b' }] },
  'PATCH BULK': { gate: 'record.update', body: (world) => [record(world)] },
  'DELETE BULK': { gate: 'record.delete', body: ({ recordId }) => [{ Id: recordId }] },
  'POST BULK/upsert': { gate: 'record.update', body: (world) => [record(world)] },
  'PATCH BULK/all': { gate: 'record.update', body: () => ({ Note: 'c' }) },
  'DELETE BULK/all': { gate: 'record.delete' },
  'GET D': { gate: 'record.list' },
  'POST D': { gate: 'record.create', body: () => ({ Note: 'b' }) },
  'GET D/count': { gate: 'record.list' },
  'GET D/find-one': { gate: 'record.list' },
  'GET D/groupby': { gate: 'record.list', query: () => '?column_name=Note' },
  'GET D/groupby/count': { gate: 'record.list', query: () => '?column_name=Note' },
  'GET D/group/:columnId': { gate: 'record.list', params: ({ selectId }) => ({ columnId: selectId }) },
  'GET D/:recordId': { gate: 'record.list' },
  'GET D/:recordId/exist': { gate: 'record.list' },
  'PATCH D/:recordId': { gate: 'record.update', body: () => ({ Note: 'b' }) },
  'DELETE D/:recordId': { gate: 'record.delete' },

  'GET D/:recordId/:relation/:column': { gate: 'record.list', params: link },
  'GET D/:recordId/:relation/:column/exclude': { gate: 'record.list', params: link },
  'POST D/:recordId/:relation/:column/:refId': { gate: 'record.update', params: link },
  'DELETE D/:recordId/:relation/:column/:refId': { gate: 'record.update', params: link },

  'GET /api/docs': { gate: 'anyone' },
  'GET /api/docs/openapi.json': { gate: 'anyone' },
  'GET /api/docs/:file': { gate: 'anyone', params: () => ({ file: 'none' }), answers: 404 },

  'POST /api/internal/uploads': {
    gate: 'account.read',
    headers: { 'content-type': 'application/octet-stream' },
    body: () => ({ file: 1 }),
  },
  'POST /api/internal/uploads/begin': { gate: 'account.read', body: () => ({ name: 'a.csv', size: 1 }) },
  'PATCH /api/internal/uploads/:uploadId': {
    gate: 'account.read',
    headers: { 'content-type': 'application/octet-stream' },
    params: () => ({ uploadId: 'none' }),
    query: () => '?offset=0',
    body: () => ({ file: 1 }),
    answers: 404,
  },
  'GET /api/internal/uploads/:uploadId/received': {
    gate: 'account.read',
    params: () => ({ uploadId: 'none' }),
    answers: 404,
  },
  'GET /api/internal/uploads/:uploadId': {
    gate: 'account.read',
    params: () => ({ uploadId: 'none' }),
    answers: 404,
  },
  'POST /api/internal/uploads/:uploadId/analysis': {
    gate: 'account.read',
    params: () => ({ uploadId: 'none' }),
    body: () => ({}),
    answers: 404,
  },
  'GET /api/internal/jobs/:jobId/report': { gate: 'account.read', params: jobId, answers: 404 },
  'GET /api/internal/base-imports/:importId/report': {
    gate: 'account.read',
    params: () => ({ importId: 'impnone' }),
    answers: 404,
  },
  'POST /jobs/listen': { gate: 'anyone', body: () => ({ _mid: 0, data: { id: NO_JOB } }) },
  'POST /api/v2/jobs/:baseId': { gate: 'base.read' },
}

/** The other door, and the web app's files: nothing of them is anybody's. */
export const OPEN_FILES = [
  'ALL /trpc/*',
  'GET /',
  'GET /dashboard',
  'GET /assets/*',
  'GET /favicon.svg',
  'GET /form',
  'GET /shared',
  'GET /builds/latest.json',
]
