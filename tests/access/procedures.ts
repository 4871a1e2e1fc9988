import type { Gate } from './actors.ts'
import { NO_JOB, type World } from './world.ts'

/** How one procedure is tried. `refuses`: the code that those who are let through are answered. */
export interface ProcedureCase {
  gate: Gate
  /** What it is called with; made once for each base, as someone who may do everything. */
  input?: (world: World) => unknown
  refuses?: string
  /** The code for all who hold the right but are not the super admin, who made what it concerns. */
  others?: string
}

const ofBase = ({ baseId }: World) => ({ baseId })
const noImport = { importId: 'impnone' }
/** An address of this server, which imports may not use. */
const otherProduct = {
  source: 'nocodb',
  credentials: { address: 'http://127.0.0.1:1', token: 'none' },
}
const ofOtherProduct = ({ baseId }: World) => ({ baseId, from: otherProduct })
const ofStranger = ({ baseId, userId }: World) => ({ baseId, userId })
const ofTable = ({ tableId }: World) => ({ tableId })
const ofView = ({ viewId }: World) => ({ viewId })
const ofSource = ({ baseId, sourceId }: World) => ({ baseId, sourceId })
/** A file that is not there: nothing is to be connected to. */
const sqliteFile = ({ baseId }: World) => ({
  baseId,
  client: 'sqlite3',
  connection: { filename: 'none' },
})
/** Its record, for another table of the base. */
const recordCopy = async ({ trpc, baseId, tableId, recordId }: World) => {
  const { table } = await trpc.schema.createTable.mutate({ baseId, title: 'Others', fields: [] })
  return { tableId, recordIds: [recordId], targetTableId: table.id, mapping: {} }
}
const ofField = ({ fieldId }: World) => ({ fieldId })
const selection = ({ tableId }: World) => ({ selection: { tableId } })
const query = ({ tableId }: World) => ({ query: { tableId, limit: 10, offset: 0 } })
const linkPage = async (world: World) => ({
  tableId: world.tableId,
  fieldId: await world.link(),
  recordId: world.recordId,
  limit: 10,
  offset: 0,
})
const change = (operation: (world: World) => object) => (world: World) => ({
  change: { baseId: world.baseId, operations: [operation(world)] },
})
/** An action that is not the caller's own. */
const actionOfOwner = async ({ trpc, baseId, tableId, fieldId }: World) => {
  const operations = [{ kind: 'insert' as const, tableId, rows: [{ values: { [fieldId]: 'x' } }] }]
  const { id: entryId } = await trpc.records.write.mutate({ change: { baseId, operations } })
  return { baseId, entryId }
}
const version = ({ tableId, recordId }: World) => ({ tableId, recordId, entryId: 999_999 })
const commentText = 'Why?'
const comment = async ({ trpc, tableId, recordId }: World) => {
  const { id } = await trpc.comments.create.mutate({ tableId, recordId, text: commentText })
  return { commentId: id }
}
const hookSettings: Omit<Parameters<World['trpc']['hooks']['create']['mutate']>[0], 'tableId'> = {
  title: 'Called',
  event: 'after',
  operations: ['insert'],
  isActive: false,
  // Addresses of this machine are refused, so nothing leaves it.
  channel: { type: 'URL', payload: { path: 'http://localhost:9/' } },
}
const hook = async ({ trpc, tableId }: World) => {
  const { id } = await trpc.hooks.create.mutate({ tableId, ...hookSettings })
  return { hookId: id }
}
const manualHook = async ({ trpc, tableId }: World) => {
  const manual = { ...hookSettings, tableId, event: 'manual' as const, isActive: true }
  const { id } = await trpc.hooks.create.mutate(manual)
  return { hookId: id }
}
async function press({ trpc, tableId, recordId }: World, options: object) {
  const field = { title: `Button ${crypto.randomUUID()}`, type: 'Button' as const, options: { ...options } }
  const created = await trpc.schema.createField.mutate({ tableId, field })
  return { tableId, recordId, fieldId: created.id }
}
const csv = { delimiter: ',', quote: '"', encoding: 'utf-8', header: true }

/**
 * Every procedure with the right that it asks for, by `router.procedure`; a list where the right
 * depends on the input. A procedure that is missing here fails the access test.
 */
export const PROCEDURES: Record<string, ProcedureCase | ProcedureCase[]> = {
  'app.info': { gate: 'anyone' },
  'auth.me': { gate: 'anyone' },
  'auth.invitation': { gate: 'anyone', input: () => ({ token: 'none' }) },
  'auth.signUp': {
    gate: 'anyone',
    input: () => ({ email: 'super@example.com', password: 'long enough' }),
    refuses: 'BAD_REQUEST',
  },
  'auth.signIn': {
    gate: 'anyone',
    input: ({ baseId }) => ({ email: `nobody-${baseId}@example.com`, password: 'x' }),
    refuses: 'BAD_REQUEST',
  },
  'auth.forgotPassword': { gate: 'anyone', input: () => ({ email: 'nobody@example.com' }) },
  'auth.refresh': { gate: 'anyone' },
  'auth.changePassword': {
    gate: 'account.password',
    input: () => ({ currentPassword: 'wrong', newPassword: 'long enough' }),
    refuses: 'BAD_REQUEST',
  },
  'auth.setWorkspaceRole': {
    gate: 'user.workspace-role',
    input: () => ({ userId: 'us000000000000', role: null }),
    refuses: 'BAD_REQUEST',
  },
  'auth.updateProfile': { gate: 'account.update', input: () => ({ displayName: 'Name' }) },

  'bases.list': { gate: 'base.list', input: () => ({}) },
  'bases.get': { gate: 'base.read', input: ofBase },
  'bases.create': { gate: 'base.create', input: () => ({ title: 'New' }) },
  'bases.update': { gate: 'base.update', input: ({ baseId }) => ({ baseId, description: 'x' }) },
  'bases.reorder': { gate: 'base.reorder', input: ({ baseId }) => ({ baseId, before: null }) },
  'bases.delete': { gate: 'base.delete', input: ofBase },
  'app.setup': { gate: 'settings.read' },
  // The world's server has no mail server.
  'storage.base': { gate: 'base.storage', input: ofBase },
  'storage.bases': { gate: 'storage.list' },
  'storage.setHistoryDays': { gate: 'base.storage', input: ({ baseId }) => ({ baseId, days: null }) },
  'indexes.list': { gate: 'table.indexes', input: ofTable },
  'indexes.performance': { gate: 'table.indexes', input: ofTable },
  'indexes.measure': { gate: 'table.indexes', input: ({ tableId, viewId }) => ({ tableId, viewId }) },
  'indexes.create': {
    gate: 'table.indexes',
    input: ({ tableId, fieldId }) => ({ tableId, terms: [{ fieldId }] }),
  },
  'indexes.drop': {
    gate: 'table.indexes',
    input: ({ tableId }) => ({ tableId, indexId: 'none' }),
    refuses: 'GENERIC_NOT_FOUND',
  },
  'backups.overview': { gate: 'backup.read' },
  'backups.list': { gate: 'backup.read', refuses: 'BAD_REQUEST' },
  'backups.save': {
    gate: 'backup.update',
    input: () => ({
      ...{
        url: 'ftp://host',
        endpoint: null,
        region: null,
        accessKeyId: null,
        frequency: 'off',
        time: '03:00',
      },
      ...{
        weekday: 0,
        timeZone: 'UTC',
        retention: { last: 0, daily: 0, weekly: 0, monthly: 0 },
        test: 'never',
      },
    }),
    refuses: 'BAD_REQUEST',
  },
  'backups.run': { gate: 'backup.update', refuses: 'BAD_REQUEST' },
  'backups.test': { gate: 'backup.update', input: () => ({ backupId: 'none' }), refuses: 'BAD_REQUEST' },
  'backups.restoreAll': {
    gate: 'backup.restore',
    input: () => ({ backupId: 'none', confirm: 'none' }),
    refuses: 'BAD_REQUEST',
  },
  'backups.restoreBase': {
    gate: 'backup.restore',
    input: ({ baseId }) => ({ backupId: 'none', baseId }),
    refuses: 'BAD_REQUEST',
  },
  'backups.restoreBaseAt': {
    gate: 'backup.restore',
    input: ({ baseId }) => ({ baseId, at: '2200-01-01T00:00:00Z' }),
    refuses: 'BAD_REQUEST',
  },
  'plugins.list': { gate: 'plugin.read' },
  'plugins.storedFiles': { gate: 'plugin.read' },
  'plugins.save': {
    gate: 'plugin.update',
    input: () => ({ id: 'slack', config: [] }),
    refuses: 'BAD_REQUEST',
  },
  'plugins.deactivate': { gate: 'plugin.update', input: () => ({ id: 'slack', keepConfig: true }) },
  'plugins.reactivate': { gate: 'plugin.update', input: () => ({ id: 'slack' }), refuses: 'BAD_REQUEST' },
  'plugins.test': {
    gate: 'plugin.update',
    input: () => ({ id: 'slack', config: [] }),
    refuses: 'BAD_REQUEST',
  },
  'plugins.testEnvironment': {
    gate: 'plugin.update',
    input: () => ({ category: 'email' }),
    refuses: 'BAD_REQUEST',
  },
  'plugins.channels': { gate: 'plugin.use', input: ofBase },

  'comments.list': { gate: 'comment.list', input: ({ tableId, recordId }) => ({ tableId, recordId }) },
  'comments.counts': {
    gate: 'comment.list',
    input: ({ tableId, recordId }) => ({ tableId, recordIds: [recordId] }),
  },
  'comments.inbox': { gate: 'comment.list', input: ofBase },
  'comments.create': {
    gate: 'comment.create',
    input: ({ tableId, recordId }) => ({ tableId, recordId, text: commentText }),
  },
  'comments.update': {
    gate: 'comment.create',
    input: async (world) => ({ ...(await comment(world)), text: 'Because' }),
    others: 'PERMISSION_DENIED',
  },
  'comments.remove': { gate: 'comment.moderate', input: comment },
  'comments.resolve': {
    gate: 'comment.create',
    input: async (world) => ({ ...(await comment(world)), isResolved: true }),
  },
  'comments.react': {
    gate: 'comment.create',
    input: async (world) => ({ ...(await comment(world)), emoji: '👍', isOn: true }),
  },
  'notifications.list': { gate: 'notification.read', input: () => ({ unreadOnly: false }) },
  'notifications.unread': { gate: 'notification.read' },
  'notifications.mark': { gate: 'notification.update', input: () => ({ ids: ['none'], isRead: true }) },
  'notifications.markAllRead': { gate: 'notification.update' },
  'notifications.remove': { gate: 'notification.update', input: () => ({ id: 'none' }) },
  'notifications.settings': { gate: 'notification.read' },
  'notifications.setSettings': [
    { gate: 'notification.update', input: () => ({ baseId: null, isMuted: false }) },
    { gate: 'base.read', input: ({ baseId }) => ({ baseId, isMuted: false }) },
  ],
  'notifications.watches': { gate: 'notification.read' },
  'notifications.watched': { gate: 'notification.read' },
  'notifications.watch': {
    gate: 'record.list',
    input: ({ tableId, recordId }) => ({ target: { tableId, recordId }, isOn: true }),
  },
  'notifications.unsubscribe': {
    gate: 'anyone',
    input: () => ({ token: 'none' }),
    refuses: 'BAD_REQUEST',
  },
  'buttons.press': [
    { gate: 'record.update', input: async (world) => press(world, { kind: 'update', values: {} }) },
    {
      gate: 'hook.trigger',
      input: async (world) => press(world, { kind: 'webhook', webhookId: (await manualHook(world)).hookId }),
    },
  ],
  'hooks.list': { gate: 'hook.list', input: ofTable },
  'hooks.listOfBase': { gate: 'hook.list', input: ofBase },
  'hooks.manual': { gate: 'hook.trigger', input: ofTable },
  'hooks.get': { gate: 'hook.list', input: hook },
  'hooks.create': { gate: 'hook.create', input: ({ tableId }) => ({ tableId, ...hookSettings }) },
  'hooks.update': {
    gate: 'hook.update',
    input: async (world) => ({ ...(await hook(world)), patch: { title: 'Renamed' } }),
  },
  'hooks.setActive': {
    gate: 'hook.update',
    input: async (world) => ({ ...(await hook(world)), isActive: false }),
  },
  'hooks.duplicate': { gate: 'hook.create', input: hook },
  'hooks.reorder': {
    gate: 'hook.update',
    input: async (world) => ({ ...(await hook(world)), before: null }),
  },
  'hooks.delete': { gate: 'hook.delete', input: hook },
  'hooks.secret': { gate: 'hook.update', input: hook },
  'hooks.renewSecret': { gate: 'hook.update', input: hook },
  'hooks.test': {
    gate: 'hook.update',
    input: ({ tableId }) => ({
      tableId,
      operation: 'insert',
      channel: { type: 'URL', payload: { path: 'http://127.0.0.1:1/' } },
    }),
  },
  'hooks.sample': { gate: 'hook.list', input: ({ tableId }) => ({ tableId, operation: 'insert' }) },
  'hooks.deliveries': { gate: 'hook.list', input: hook },
  'hooks.delivery': {
    gate: 'hook.list',
    input: async (world) => {
      const { hookId } = await manualHook(world)
      const [delivery] = await world.trpc.hooks.trigger.mutate({ hookId, recordIds: [world.recordId] })
      return { hookId, deliveryId: delivery?.id }
    },
  },
  'hooks.retry': {
    gate: 'hook.update',
    input: async (world) => ({ ...(await hook(world)), deliveries: 'dead' }),
  },
  'hooks.trigger': {
    gate: 'hook.trigger',
    input: async (world) => ({ ...(await manualHook(world)), recordIds: [world.recordId] }),
  },
  'storage.reclaim': { gate: 'base.storage', input: ofBase },
  'trash.purgeBase': {
    gate: 'base.purge',
    input: async ({ trpc, baseId }) => {
      await trpc.bases.delete.mutate({ baseId })
      return { baseId }
    },
  },
  'bases.restore': {
    gate: 'base.restore',
    input: async ({ trpc, baseId }) => {
      await trpc.bases.delete.mutate({ baseId })
      return { baseId }
    },
  },
  'copies.base': { gate: 'base.duplicate', input: ofBase },
  'copies.table': { gate: 'table.duplicate', input: ofTable },
  'copies.previewToBase': { gate: 'record.export', input: ofTable },
  'copies.tableToBase': {
    gate: 'table.create',
    input: ({ baseId, tableId }) => ({ baseId, tableId }),
  },
  'copies.previewRecords': { gate: 'record.create', input: recordCopy },
  'copies.records': [
    { gate: 'record.create', input: recordCopy },
    {
      gate: 'record.delete',
      input: async (world) => ({ ...(await recordCopy(world)), isMove: true }),
    },
  ],
  'copies.manyRecords': [
    { gate: 'record.create', input: recordCopy },
    {
      gate: 'record.delete',
      input: async (world) => ({ ...(await recordCopy(world)), isMove: true }),
    },
  ],
  'copies.field': { gate: 'field.duplicate', input: ofField },
  'copies.sharedBase': {
    gate: 'base.create',
    input: () => ({ shareId: 'no-such-link' }),
    refuses: 'BASE_NOT_FOUND',
  },
  'schema.diagram': { gate: 'table.list', input: ofBase },
  'bases.members': { gate: 'member.list', input: ofBase },
  'bases.invite': {
    gate: 'member.create',
    input: ({ baseId }) => ({ baseId, emails: [`guest-${baseId}@example.com`], role: 'viewer' }),
  },
  'bases.resendInvite': { gate: 'member.update', input: ofStranger, refuses: 'BAD_REQUEST' },
  'bases.updateMember': {
    gate: 'member.update',
    input: ({ baseId, userId }) => ({ baseId, userId, role: 'viewer' }),
  },
  'bases.removeMember': { gate: 'member.delete', input: ofStranger },

  'sources.list': { gate: 'source.list', input: ofBase },
  'sources.test': { gate: 'source.create', input: sqliteFile, refuses: 'BAD_REQUEST' },
  'sources.inspect': { gate: 'source.create', input: sqliteFile, refuses: 'BAD_REQUEST' },
  'sources.create': { gate: 'source.create', input: sqliteFile, refuses: 'BAD_REQUEST' },
  'sources.update': { gate: 'source.update', input: (world) => ({ ...ofSource(world), alias: 'Own' }) },
  'sources.delete': { gate: 'source.delete', input: ofSource, refuses: 'BAD_REQUEST' },
  'schema.differences': { gate: 'source.update', input: ofSource },
  'schema.syncSource': { gate: 'source.update', input: ofSource },
  'schema.tables': [
    { gate: 'table.list', input: ofBase },
    { gate: 'table.restore', input: ({ baseId }) => ({ baseId, trash: true }) },
  ],
  'schema.table': { gate: 'table.read', input: ofTable },
  'schema.createTable': { gate: 'table.create', input: ({ baseId }) => ({ baseId, title: 'New' }) },
  'schema.updateTable': { gate: 'table.update', input: ({ tableId }) => ({ tableId, description: 'x' }) },
  'schema.reorderTable': { gate: 'table.update', input: ({ tableId }) => ({ tableId, before: null }) },
  'schema.deleteTable': { gate: 'table.delete', input: ofTable },
  'schema.restoreTable': {
    gate: 'table.restore',
    input: async ({ trpc, tableId }) => {
      await trpc.schema.deleteTable.mutate({ tableId })
      return { tableId }
    },
  },
  'schema.createField': {
    gate: 'field.create',
    input: ({ tableId }) => ({ tableId, field: { title: 'New', type: 'Number' } }),
  },
  'schema.updateField': {
    gate: 'field.update',
    input: ({ fieldId }) => ({ fieldId, patch: { description: 'x' } }),
  },
  'schema.addChoices': {
    gate: 'field.update',
    input: async ({ trpc, tableId }) => {
      const field = { title: `Select ${crypto.randomUUID()}`, type: 'SingleSelect' as const }
      const { id: fieldId } = await trpc.schema.createField.mutate({ tableId, field })
      return { fieldId, titles: ['New'] }
    },
  },
  'schema.previewType': { gate: 'field.update', input: ({ fieldId }) => ({ fieldId, type: 'Number' }) },
  'schema.checkFormula': {
    gate: 'field.create',
    input: ({ tableId }) => ({ tableId, formula: '1 + 1' }),
  },
  'schema.setDisplayField': { gate: 'field.update', input: ofField },
  'schema.deleteField': { gate: 'field.delete', input: ofField },
  'schema.restoreField': {
    gate: 'field.create',
    input: async ({ trpc, fieldId }) => {
      await trpc.schema.deleteField.mutate({ fieldId })
      return { fieldId }
    },
  },
  'schema.dependents': [
    { gate: 'field.delete', input: ofField },
    { gate: 'table.delete', input: ofTable },
  ],
  'schema.place': { gate: 'table.read', input: ofTable },
  'schema.trashedFields': { gate: 'field.create', input: ofTable },

  'views.titles': { gate: 'table.list', input: ofBase },
  'views.create': { gate: 'view.create', input: ({ tableId }) => ({ tableId, title: 'New', kind: 'grid' }) },
  'views.duplicate': { gate: 'view.create', input: ofView },
  'views.update': [
    { gate: 'view.update', input: ({ viewId }) => ({ viewId, patch: { title: 'Renamed' } }) },
    { gate: 'view.arrange', input: ({ viewId }) => ({ viewId, patch: { sorts: [] } }) },
    { gate: 'view.update', input: ({ viewId }) => ({ viewId, patch: { title: 'Renamed', sorts: [] } }) },
    { gate: 'view.update', input: ({ viewId }) => ({ viewId, patch: { options: {} } }) },
  ],
  'views.arrange': {
    gate: 'view.arrange',
    input: ({ viewId, fieldId }) => ({ viewId, fields: [{ fieldId, width: 200 }] }),
  },
  'views.hide': { gate: 'view.update', input: ({ viewId }) => ({ viewId, from: ['viewer'] }) },
  'views.reorder': { gate: 'view.update', input: ({ viewId }) => ({ viewId, before: null }) },
  'views.delete': { gate: 'view.delete', input: ofView },

  'records.list': { gate: 'record.list', input: query },
  'records.count': { gate: 'record.list', input: selection },
  'records.get': { gate: 'record.list', input: ({ tableId, recordId }) => ({ tableId, recordId }) },
  'records.summaries': { gate: 'record.list', input: (world) => ({ ...selection(world), summaries: [] }) },
  'records.groups': {
    gate: 'record.list',
    input: (world) => ({
      request: {
        ...selection(world),
        summaries: [],
        limit: 10,
        offset: 0,
        groups: [{ fieldId: world.fieldId, direction: 'asc' }],
      },
    }),
  },
  'records.previewFormula': {
    gate: 'field.create',
    input: ({ tableId }) => ({ tableId, formula: '1 + 1' }),
  },
  'records.position': {
    gate: 'record.list',
    input: (world) => ({ ...query(world), recordId: world.recordId }),
  },
  'records.positions': {
    gate: 'record.list',
    input: (world) => ({ ...query(world), recordIds: [world.recordId] }),
  },
  'records.linked': { gate: 'record.list', input: linkPage },
  'records.linkable': { gate: 'record.list', input: linkPage },
  'records.write': [
    {
      gate: 'record.create',
      input: change(({ tableId, fieldId }) => ({
        kind: 'insert',
        tableId,
        rows: [{ values: { [fieldId]: 'b' } }],
      })),
    },
    {
      gate: 'record.update',
      input: change(({ tableId, fieldId, recordId: id }) => ({
        kind: 'update',
        tableId,
        rows: [{ id, values: { [fieldId]: 'b' } }],
      })),
    },
    {
      gate: 'record.update',
      input: change(({ tableId, recordId }) => ({ kind: 'move', tableId, ids: [recordId], before: null })),
    },
    {
      gate: 'record.update',
      input: async (world) => {
        const fieldId = await world.link()
        const { tableId, recordId: id } = world
        return change(() => ({ kind: 'link', tableId, fieldId, id, targets: [id] }))(world)
      },
    },
    {
      gate: 'record.delete',
      input: change(({ tableId, recordId }) => ({ kind: 'delete', tableId, ids: [recordId] })),
    },
  ],
  'records.effectsOfDeletion': { gate: 'record.delete', input: selection },
  'records.deleteMatching': { gate: 'record.delete', input: selection },
  'records.updateMatching': {
    gate: 'record.update',
    input: (world) => ({ ...selection(world), values: { [world.fieldId]: 'c' } }),
  },
  'records.nextAction': {
    gate: 'record.undo',
    input: ({ baseId }) => ({ baseId, direction: 'undo' }),
  },
  'records.actions': { gate: 'record.undo', input: ofBase },
  'records.baseContents': { gate: 'base.delete', input: ofBase },
  'records.deleteViewForever': {
    gate: 'view.purge',
    input: ({ baseId }) => ({ baseId, entryId: 999_999 }),
    refuses: 'VIEW_NOT_FOUND',
  },
  'trash.list': { gate: 'record.restore', input: ofBase },
  'trash.retention': { gate: 'record.restore', input: ofBase },
  'trash.setRetention': { gate: 'base.storage', input: ({ baseId }) => ({ baseId, days: null }) },
  'trash.restore': [
    {
      gate: 'record.restore',
      input: ({ baseId, tableId }) => ({
        baseId,
        items: [{ kind: 'record', tableId, recordId: 999_999 }],
      }),
      refuses: 'RECORD_NOT_FOUND',
    },
    {
      gate: 'field.create',
      input: async ({ trpc, baseId, fieldId }) => {
        await trpc.schema.deleteField.mutate({ fieldId })
        return { baseId, items: [{ kind: 'field', fieldId }] }
      },
    },
    {
      gate: 'table.restore',
      input: async ({ trpc, baseId, tableId }) => {
        await trpc.schema.deleteTable.mutate({ tableId })
        return { baseId, items: [{ kind: 'table', tableId }] }
      },
    },
  ],
  'trash.purge': [
    {
      gate: 'field.purge',
      input: async ({ trpc, baseId, fieldId }) => {
        await trpc.schema.deleteField.mutate({ fieldId })
        return { baseId, items: [{ kind: 'field', fieldId }] }
      },
    },
    {
      gate: 'table.purge',
      input: async ({ trpc, baseId, tableId }) => {
        await trpc.schema.deleteTable.mutate({ tableId })
        return { baseId, items: [{ kind: 'table', tableId }] }
      },
    },
  ],
  'trash.empty': { gate: 'record.purge', input: ofBase },
  'trash.bases': { gate: 'base.list' },
  'trash.listAll': { gate: 'base.list', input: () => ({}) },
  'trash.people': { gate: 'base.list' },
  'trash.emptyAll': { gate: 'base.list', input: () => ({ search: 'nothing of this name' }) },
  'trash.restoreBase': {
    gate: 'base.restore',
    input: async ({ trpc, baseId }) => {
      await trpc.bases.delete.mutate({ baseId })
      return { baseId }
    },
  },
  'records.deletedViews': { gate: 'view.create', input: ofBase },
  'schema.trashedFieldsOfBase': { gate: 'field.create', input: ofBase },
  'records.cancelWork': { gate: 'record.undo', input: ({ baseId }) => ({ baseId, workId: 'job_none' }) },
  'records.trash': { gate: 'record.restore', input: ofTable },
  'records.trashCounts': { gate: 'record.restore', input: ofBase },
  'records.restoreTrashed': {
    gate: 'record.restore',
    input: ({ tableId }) => ({ tableId, recordIds: [999_999] }),
    refuses: 'RECORD_NOT_FOUND',
  },
  'records.purgeTrashed': {
    gate: 'record.purge',
    input: ({ tableId }) => ({ tableId, recordIds: [999_999] }),
    refuses: 'RECORD_NOT_FOUND',
  },
  'records.undo': [
    { gate: 'record.undo', input: ofBase },
    {
      gate: 'record.undo-others',
      input: actionOfOwner,
    },
  ],
  'records.redo': { gate: 'record.undo', input: ofBase },
  'records.search': { gate: 'record.list', input: ({ baseId }) => ({ baseId, text: 'a' }) },
  'baseFiles.export': { gate: 'base.export', input: ofBase },
  'baseFiles.import': { gate: 'base.create', input: () => ({ uploadId: 'none' }), refuses: 'NOT_FOUND' },
  'records.exportBase': { gate: 'record.export', input: ({ baseId }) => ({ baseId, format: 'csv' }) },
  'records.export': { gate: 'record.export', input: ({ tableId }) => ({ tableId, format: 'csv' }) },
  'records.previewRevert': [
    {
      gate: 'record.undo',
      input: ({ baseId }) => ({ baseId, entryId: 999_999 }),
      refuses: 'GENERIC_NOT_FOUND',
    },
    { gate: 'record.undo-others', input: actionOfOwner },
  ],
  'records.revert': [
    {
      gate: 'record.undo',
      input: ({ baseId }) => ({ baseId, entryId: 999_999 }),
      refuses: 'GENERIC_NOT_FOUND',
    },
    { gate: 'record.undo-others', input: actionOfOwner },
  ],
  'records.previewRecordVersion': { gate: 'record.restore', input: version, refuses: 'RECORD_NOT_FOUND' },
  'records.restoreRecordVersion': { gate: 'record.restore', input: version, refuses: 'RECORD_NOT_FOUND' },
  'records.previewTableRestore': {
    gate: 'record.rewind',
    input: ({ tableId }) => ({ tableId, before: 999_999 }),
    refuses: 'BAD_REQUEST',
  },
  'records.restoreTable': {
    gate: 'record.rewind',
    input: ({ tableId }) => ({ tableId, before: 999_999 }),
    refuses: 'BAD_REQUEST',
  },
  'activity.list': { gate: 'base.activity', input: ofBase },
  'activity.log': { gate: 'audit.list', input: () => ({}) },
  'activity.entry': {
    gate: 'base.activity',
    input: ({ baseId }) => ({ baseId, entryId: 999_999 }),
    refuses: 'GENERIC_NOT_FOUND',
  },
  'records.history': { gate: 'record.history', input: ({ tableId, recordId }) => ({ tableId, recordId }) },
  'records.signFiles': { gate: 'record.list', input: ({ tableId }) => ({ tableId, paths: ['download/x'] }) },
  'records.keepPicture': {
    gate: 'view.arrange',
    input: ({ tableId }) => ({ tableId, path: 'download/x' }),
    refuses: 'BAD_REQUEST',
  },
  'records.formerPeople': { gate: 'record.list', input: ({ tableId }) => ({ tableId, ids: ['usnobody'] }) },
  'records.people': { gate: 'record.list', input: ofBase },

  // The link of a view and that of a base are for the same roles.
  'shares.open': {
    gate: 'anyone',
    input: () => ({ kind: 'view', id: 'nowhere' }),
    refuses: 'VIEW_NOT_FOUND',
  },
  'shares.get': { gate: 'view.share', input: ({ viewId }) => ({ kind: 'view', targetId: viewId }) },
  'shares.save': [
    { gate: 'view.share', input: ({ viewId }) => ({ kind: 'view', targetId: viewId, patch: {} }) },
    { gate: 'base.share', input: ({ baseId }) => ({ kind: 'base', targetId: baseId, patch: {} }) },
    { gate: 'base.share', input: ({ sourceId }) => ({ kind: 'erd', targetId: sourceId, patch: {} }) },
  ],
  'shares.regenerate': { gate: 'view.share', input: ({ viewId }) => ({ kind: 'view', targetId: viewId }) },
  'shares.close': { gate: 'view.share', input: ({ viewId }) => ({ kind: 'view', targetId: viewId }) },
  'shares.list': { gate: 'base.share', input: ofBase },
  // For visitors alone: see tests/shares.
  'shares.diagram': { gate: 'nobody' },
  'shares.submit': { gate: 'nobody', input: () => ({ values: {} }) },

  'imports.start': [
    {
      gate: 'import.append',
      input: ({ baseId, tableId, fieldId }) => ({
        baseId,
        tableId,
        uploadId: 'none',
        format: csv,
        width: 1,
        columns: [{ index: 0, fieldId }],
      }),
      refuses: 'NOT_FOUND',
    },
    {
      gate: 'import.create',
      input: ({ baseId }) => ({
        baseId,
        uploadId: 'none',
        format: csv,
        width: 1,
        columns: [{ index: 0 }],
        table: { title: 'Imported', fields: [{ title: 'A', type: 'SingleLineText' }] },
      }),
      refuses: 'NOT_FOUND',
    },
  ],
  'imports.startAll': [
    {
      gate: 'import.append',
      input: ({ baseId, tableId, fieldId }) => [
        {
          baseId,
          tableId,
          uploadId: 'none',
          format: csv,
          width: 1,
          columns: [{ index: 0, fieldId }],
        },
      ],
      refuses: 'NOT_FOUND',
    },
    {
      gate: 'import.create',
      input: ({ baseId }) => [
        {
          baseId,
          uploadId: 'none',
          format: csv,
          width: 1,
          columns: [{ index: 0 }],
          table: { title: 'Imported', fields: [{ title: 'A', type: 'SingleLineText' }] },
        },
      ],
      refuses: 'NOT_FOUND',
    },
  ],
  'imports.target': { gate: 'import.append', input: ({ tableId }) => ({ tableId }) },
  'imports.missingNames': {
    gate: 'import.append',
    input: ({ baseId, tableId, fieldId }) => ({ baseId, tableId, fieldId, texts: ['x'] }),
    refuses: 'BAD_REQUEST',
  },
  'imports.matchTables': {
    gate: 'import.create',
    input: ({ baseId }) => ({ baseId, columns: [{ title: 'x', values: ['x'] }] }),
  },
  'imports.fetchUrl': {
    gate: 'account.read',
    input: () => ({ url: 'http://127.0.0.1:1/x.csv' }),
    refuses: 'BAD_REQUEST',
  },
  'baseImports.inspect': [
    { gate: 'import.create', input: ofOtherProduct, refuses: 'BAD_REQUEST' },
    { gate: 'base.create', input: () => ({ from: otherProduct }), refuses: 'BAD_REQUEST' },
  ],
  'baseImports.describe': {
    gate: 'import.create',
    input: (world) => ({ ...ofOtherProduct(world), sourceBaseId: 'x' }),
    refuses: 'BAD_REQUEST',
  },
  'baseImports.begin': {
    gate: 'import.create',
    input: (world) => ({ ...ofOtherProduct(world), sourceBaseId: 'x', title: 'T', choices: {} }),
    refuses: 'BAD_REQUEST',
  },
  // Imports are their owner's: those of others do not exist.
  'baseImports.get': { gate: 'account.read', input: () => noImport, refuses: 'NOT_FOUND' },
  'baseImports.list': { gate: 'account.read', input: () => ({}) },
  'baseImports.report': { gate: 'account.read', input: () => noImport, refuses: 'NOT_FOUND' },
  'baseImports.people': { gate: 'account.read', input: () => noImport, refuses: 'NOT_FOUND' },
  'baseImports.match': {
    gate: 'account.read',
    input: () => ({ ...noImport, key: 'ann@example.com', memberId: null }),
    refuses: 'NOT_FOUND',
  },
  'baseImports.pause': { gate: 'account.read', input: () => noImport, refuses: 'NOT_FOUND' },
  'baseImports.resume': { gate: 'account.read', input: () => noImport, refuses: 'NOT_FOUND' },
  'baseImports.again': { gate: 'account.read', input: () => noImport, refuses: 'NOT_FOUND' },
  'baseImports.cancel': {
    gate: 'account.read',
    input: () => ({ ...noImport, removes: false }),
    refuses: 'NOT_FOUND',
  },
  'baseImports.forgetCredentials': { gate: 'account.read', input: () => noImport, refuses: 'NOT_FOUND' },
  'jobs.get': { gate: 'account.read', input: () => ({ jobId: NO_JOB }), refuses: 'JOB_NOT_FOUND' },
  'jobs.cancel': { gate: 'account.read', input: () => ({ jobId: NO_JOB }), refuses: 'JOB_NOT_FOUND' },
  'jobs.unfinished': { gate: 'account.read' },
}
