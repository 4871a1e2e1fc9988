import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { Elysia } from 'elysia'
import { activityRest, createActivityService } from '../modules/activity/index.ts'
import {
  authRest,
  createAuthService,
  OWNED_BASES,
  probesRest,
  STARTER,
  STARTER_PRESENTER,
} from '../modules/auth/index.ts'
import { backupsRest, createBackupsService } from '../modules/backups/index.ts'
import { baseFilesRest, createBaseFilesService } from '../modules/base-files/index.ts'
import {
  baseImportsRest,
  createBaseImportsService,
  IMPORTED_COMMENTS,
} from '../modules/base-imports/index.ts'
import { basesRest, createBasesService } from '../modules/bases/index.ts'
import { commentsRest, createCommentsService } from '../modules/comments/index.ts'
import { buttonsRest, createButtonsService, createHooksService, hooksRest } from '../modules/hooks/index.ts'
import {
  baseImportRest,
  COPIED_COMMENTS,
  COPIED_HOOKS,
  COPIED_INDEXES,
  copiesRest,
  createCopies,
  createImportsService,
  importsRest,
  tableImportRest,
} from '../modules/imports/index.ts'
import { createIndexesService, indexesRest } from '../modules/indexes/index.ts'
import { createNotificationsService, notificationsRest } from '../modules/notifications/index.ts'
import { createPluginsService, pluginsRest } from '../modules/plugins/index.ts'
import {
  AUTOMATIC_INDEXES,
  createRecordsService,
  createStarter,
  HOOK_COUNT,
  openapiRest,
  presentStarter,
  recordsRest,
} from '../modules/records/index.ts'
import {
  createSchemaService,
  FIELD_EXPRESSIONS,
  HOOK_CHOICES,
  schemaRest,
  TABLE_VIEWS,
  VIEW_PRESENTER,
} from '../modules/schema/index.ts'
import { createSharesService, sharesRest } from '../modules/shares/index.ts'
import { createStorageService } from '../modules/storage/index.ts'
import { createTrashService, trashRest } from '../modules/trash/index.ts'
import { createViewsService, HOOK_FILTERS, presentTableViews, viewsRest } from '../modules/views/index.ts'
import { createAnswersInTime } from './answers-in-time.ts'
import { asCaller, clientAddress, nameCaller, nameRoute } from './caller.ts'
import type { BaseFiles, BaseRestoredAt } from './commands/command.ts'
import type { Config } from './config.ts'
import { compressed } from './content-encoding.ts'
import type { Actor } from './core/actor.ts'
import { goesAlone } from './core/calls-alone.ts'
import { AppError, badRequest, concernsOperator, retryAfterOf } from './core/errors.ts'
import { MAX_ATTACHMENTS_EVER } from './core/fields/attachment-item.ts'
import { randomText } from './core/ids.ts'
import { isTooDeep, MAX_JSON_DEPTH } from './core/json-text.ts'
import { hasMetadata, openMeta } from './db/meta.ts'
import { completeReplacement, waitingReplacement } from './db/replace-data.ts'
import { HAS_TABLES, HOME_OF, openSources } from './db/sources.ts'
import type { EngineWatch } from './db/watched-engine.ts'
import { createEvents } from './events.ts'
import { createJobs } from './jobs/create-jobs.ts'
import { hasEnded } from './jobs.ts'
import type { Kernel } from './kernel.ts'
import { createLimits } from './limits.ts'
import { createLog, logRequests } from './log.ts'
import { MAIL_SETTINGS } from './mail/smtp-settings.ts'
import { createMail } from './mail.ts'
import { m } from './messages.gen.ts'
import { describeKernel } from './metrics/kernel-gauges.ts'
import type { Metrics } from './metrics/metrics.ts'
import { measureRequests, metricsRoute } from './metrics/route.ts'
import { NOTICES } from './notices.ts'
import { LARGE_JSON, parseJsonInTurns } from './parse-json.ts'
import { createWorkerPool } from './pool.ts'
import { previewAs } from './preview-role.ts'
import { createRegistry } from './registry.ts'
import { answerWhileRestarting } from './restarting.ts'
import { createRouter } from './router.ts'
import { openSecrets, refuseNewKeys } from './secrets.ts'
import { createSlowQueryLog } from './slow-queries.ts'
import { createSocket } from './socket.ts'
import { listen, requireDataDir } from './start-failure.ts'
import { createStaticFiles } from './static-files.ts'
import { CONFIGURED_BUCKETS, openFileStores } from './storage/index.ts'
import { explainStorage } from './storage-full.ts'
import { errorOfCall } from './trpc.ts'
import { refuseOtherSites } from './wire/other-sites.ts'
import { refuseMalformedPath, restBase, tooLargeForAnonymous } from './wire/rest-base.ts'
import { createWorks } from './works.ts'

/** Worker threads: the main thread answers requests, these do what grows with a table. */
const WORKERS = Math.max(2, Math.min(4, navigator.hardwareConcurrency - 1))

/** Calls in one tRPC request. The web app keeps its addresses below 6,000 characters, which is some 300 calls. */
const MAX_BATCH = 400

export type Services = ReturnType<typeof createServices>

/** Opens the databases and creates the kernel that every module gets. */
export async function openKernel(config: Config): Promise<Kernel & { close(): Promise<void> }> {
  const log = createLog(config.logLevel)
  requireDataDir(config)
  completeReplacement(config.dataDir)
  if (config.databaseUrl !== null && waitingReplacement(config.dataDir) !== null) {
    const { completeRestore } = await import('./db/backups/postgres/restore-postgres.ts')
    await completeRestore(config.dataDir, config.databaseUrl)
  }
  const secrets = openSecrets(config)
  const isInUse = hasMetadata(config)
  const metrics = config.metricsToken === null ? null : await startMetrics()
  const watch: EngineWatch = {
    observe: metrics?.database,
    slow: createSlowQueryLog(log, config.slowQueryMs),
    refusedBy: (indexes) => events.emit('indexes.refused', indexes),
    notDropped: (error, { file, indexes }) =>
      log.error('indexes of deleted tables could not be dropped', error, {
        file,
        indexes: indexes.join(' '),
      }),
  }
  const meta = await openMeta(config, log, watch).catch((error) => {
    metrics?.close()
    throw error
  })
  try {
    refuseNewKeys(secrets, { JWT_SECRET: isInUse, CONNECTION_SECRET: await meta.holdsSealed() })
  } catch (error) {
    metrics?.close()
    await meta.close()
    throw error
  }
  const pool = createWorkerPool(WORKERS)
  const registry = createRegistry()
  const sources = openSources(config, secrets, pool, registry, watch)
  const events = createEvents(
    (error, name) => log.error('a listener failed', error, { event: name }),
    meta.cluster,
  )
  const jobs = createJobs({
    meta,
    events,
    log,
    registry,
    onEnd: ({ kind, status }) => metrics?.job(kind, status),
  })
  const limits = createLimits({ meta, secrets, events, log })
  const mail = createMail({ config, meta, secrets, log, registry })
  return {
    config,
    log,
    shutdown: { hasBegun: false },
    restart: null,
    secrets,
    files: openFileStores(config, registry),
    meta,
    pool,
    sources,
    events,
    jobs,
    mail,
    limits,
    metrics,
    registry,
    undoers: new Map(),
    removals: [],
    accountRemovals: [],
    tableMoves: [],
    works: createWorks({ events }),
    async close() {
      await Promise.all([jobs.close(), mail.close(), limits.close()])
      pool.close()
      metrics?.close()
      await sources.close()
      await meta.close()
    },
  }
}

/** Loads the client library only where it is used. */
async function startMetrics(): Promise<Metrics> {
  const { createMetrics } = await import('./metrics/create-metrics.ts')
  return createMetrics()
}

/** Builds each service once from earlier ones, and fills the registry slots that earlier services need from later ones. */
export function createServices(kernel: Kernel) {
  const auth = createAuthService(kernel)
  const bases = createBasesService(kernel, auth)
  const schema = createSchemaService(kernel, auth, bases)
  const views = createViewsService(kernel, auth, schema)
  const records = createRecordsService(kernel, auth, bases, schema, views)
  const shares = createSharesService(kernel, auth, bases, schema, views, records)
  const imports = createImportsService(kernel, auth, bases, schema, records)
  const copies = createCopies({ kernel, auth, bases, schema, views, records })
  const baseImports = createBaseImportsService(kernel, { auth, bases, schema, views, records, imports })
  const trash = createTrashService({ kernel, auth, bases, schema, views, records })
  const storage = createStorageService(kernel, auth, bases, schema, records, trash)
  const indexes = createIndexesService(kernel, auth, schema, records)
  const plugins = createPluginsService(kernel, auth, records)
  kernel.registry.fill(MAIL_SETTINGS, plugins.mailSettings)
  kernel.registry.fill(CONFIGURED_BUCKETS, plugins.buckets)
  const notifications = createNotificationsService(kernel, auth, bases, schema, views, records)
  const comments = createCommentsService(kernel, auth, schema, records, notifications)
  const activity = createActivityService(auth, bases, records, comments)
  kernel.registry.fill(NOTICES, notifications.notices)
  kernel.registry.fill(IMPORTED_COMMENTS, comments.imported)
  kernel.registry.fill(COPIED_COMMENTS, comments.copies)
  const hooks = createHooksService(kernel, auth, schema, records, plugins)
  kernel.registry.fill(HOOK_COUNT, hooks.countOf)
  kernel.registry.fill(HOOK_CHOICES, hooks.renamedChoices)
  kernel.registry.fill(COPIED_HOOKS, hooks.copies)
  kernel.registry.fill(HOOK_FILTERS, hooks.filterHolder)
  const baseFiles = createBaseFilesService(kernel, { auth, bases, schema, views, records, comments, imports })
  const buttons = createButtonsService(schema, records, hooks)
  const backups = createBackupsService(kernel, { auth, bases, copies, comments, records })
  kernel.registry.fill(AUTOMATIC_INDEXES, indexes.automatic)
  kernel.registry.fill(COPIED_INDEXES, indexes.copies)
  kernel.registry.fill(HOME_OF, bases.homeOf)
  kernel.registry.fill(HAS_TABLES, schema.hasTables)
  kernel.registry.fill(OWNED_BASES, bases.owned)
  kernel.registry.fill(STARTER, createStarter({ bases, schema, records, views }))
  kernel.registry.fill(STARTER_PRESENTER, presentStarter({ kernel, bases, schema }))
  kernel.registry.fill(TABLE_VIEWS, views.tableViews)
  kernel.registry.fill(VIEW_PRESENTER, presentTableViews(views))
  kernel.registry.fill(FIELD_EXPRESSIONS, records.expressions)
  return {
    auth,
    bases,
    schema,
    views,
    records,
    shares,
    imports,
    copies,
    trash,
    baseImports,
    storage,
    indexes,
    plugins,
    notifications,
    comments,
    activity,
    hooks,
    buttons,
    baseFiles,
    backups,
  }
}

/** The HTTP application: tRPC, the REST adapters and the web app's files. */
export function createApp(kernel: Kernel, services: Services) {
  const { auth } = services
  const router = createRouter(services)
  return (
    new Elysia({ aot: true, normalize: false })
      .onRequest(
        ({ request }) =>
          refuseMalformedPath(request) ?? refuseOtherSites(request, kernel.config) ?? undefined,
      )
      .all(
        '/trpc/*',
        ({ request, server }) => handleTrpc(request, clientAddress(kernel.config, request, server)),
        {
          parse: 'none',
        },
      )
      // Those before the base of the adapters need no database: it finds out who asks.
      .use(probesRest(kernel))
      .use(metricsRoute(kernel))
      .use(createStaticFiles(kernel))
      .use(restBase(kernel, auth))
      .use(authRest(kernel, services))
      .use(basesRest(kernel, services))
      .use(schemaRest(kernel, services))
      .use(viewsRest(kernel, services))
      .use(recordsRest(kernel, services))
      .use(trashRest(kernel, services))
      .use(indexesRest(kernel, services))
      .use(pluginsRest(kernel, services))
      .use(notificationsRest(kernel, services))
      .use(commentsRest(kernel, services))
      .use(activityRest(kernel, services))
      .use(hooksRest(kernel, services))
      .use(buttonsRest(kernel, services))
      .use(baseFilesRest(kernel, services))
      .use(backupsRest(kernel, services))
      .use(sharesRest(kernel, services))
      .use(importsRest(kernel, services))
      .use(tableImportRest(kernel, services))
      .use(baseImportRest(kernel, services))
      .use(copiesRest(kernel, services))
      .use(baseImportsRest(kernel, services))
      .use(openapiRest(kernel, services))
  )

  async function handleTrpc(request: Request, address: string): Promise<Response> {
    let known: Promise<Actor> | null = null
    const actor = () => {
      known ??= actorOf(request.headers, address)
      return known
    }
    const read = await readTrpcBody(request, kernel.config, async () => (await actor()).kind === 'user')
    if (read instanceof Response) return read
    const requestId = randomText(12)
    nameRoute('/trpc/*', requestId)
    const responseHeaders = new Headers({ 'x-request-id': requestId, 'cache-control': 'no-store' })
    const response = await fetchRequestHandler({
      endpoint: '/trpc',
      // The web app sends its queries as POST: a filter may be longer than an address.
      allowMethodOverride: true,
      req: read,
      router,
      maxBatchSize: MAX_BATCH,
      // Authentication runs in here, so that its failure is answered like any other, without its cause.
      createContext: async ({ info: { calls } }) => {
        if (calls.length > 1 && calls.some(({ path }) => goesAlone(path))) {
          throw badRequest(m.trpc_error_batch_of_records())
        }
        return {
          actor: await actor(),
          requestId,
          log: kernel.log,
          metrics: kernel.metrics,
          responseHeaders,
          request,
          address,
        }
      },
      responseMeta({ errors }) {
        for (const { cause } of errors) {
          const retryAfter = retryAfterOf(explainStorage(cause))
          if (retryAfter !== null) responseHeaders.set('retry-after', retryAfter)
        }
        return { headers: responseHeaders }
      },
      onError: ({ error, path }) => {
        const cause = explainStorage(error.cause)
        const isFailure = error.code === 'INTERNAL_SERVER_ERROR' && !(cause instanceof AppError)
        if (isFailure || concernsOperator(cause)) {
          kernel.log.error('call failed', error.cause ?? error, { requestId, path })
        }
      },
    })
    // Safe, because these calls are authenticated by a header that other sites cannot send.
    return compressed(request, response)
  }

  async function actorOf(headers: Headers, address: string): Promise<Actor> {
    const known = previewAs(await auth.authenticate(headers, address), headers)
    nameCaller(known)
    const actionId = headers.get('x-action-id')
    return known.kind === 'user' && isActionId(actionId) ? { ...known, actionId } : known
  }
}

const isActionId = (text: string | null): text is string => text !== null && /^[\w-]{1,64}$/.test(text)

/**
 * The request with its body read and checked, or an error response: 411 for a body without a length (browsers always
 * send one), 413 for a body too long for its sender, 400 for JSON that is nested too deeply.
 */
async function readTrpcBody(
  request: Request,
  { bodyMaxBytes, anonymousBodyMaxBytes }: Config,
  isSignedIn: () => Promise<boolean>,
): Promise<Request | Response> {
  if (request.body === null) return request
  const length = request.headers.get('content-length')
  if (length === null) return errorOfCall(badRequest(m.request_error_length_missing()), { status: 411 })
  if (Number(length) > bodyMaxBytes)
    return errorOfCall(new AppError('PAYLOAD_TOO_LARGE', m.request_error_size({ maxBytes: bodyMaxBytes })))
  if (Number(length) > anonymousBodyMaxBytes) {
    // The call itself reports a failed authentication; here it only limits the size.
    const isAllowed = await isSignedIn().catch(() => false)
    if (!isAllowed) return errorOfCall(tooLargeForAnonymous(anonymousBodyMaxBytes))
  }
  const text = await request.text()
  const { url, method, headers, signal } = request
  if (text.length >= LARGE_JSON) {
    try {
      const input = await parseJsonInTurns(text)
      // tRPC reads the body only by `json`.
      return Object.assign(new Request(url, { method, headers, signal, body: '{}' }), {
        json: async () => input,
      })
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      // Refused below.
    }
  }
  if (isTooDeep(text))
    return errorOfCall(new AppError('BAD_JSON', m.request_error_depth({ max: MAX_JSON_DEPTH })))
  return new Request(url, { method, headers, signal, body: text })
}

/** The bases of an installation as files, without a server: for the command line. */
export async function openBaseFiles(config: Config): Promise<BaseFiles> {
  const kernel = await openKernel({ ...config, logLevel: config.logLevel === 'silent' ? 'silent' : 'error' })
  const { baseFiles, indexes, plugins, records } = createServices(kernel)
  // Attachments may be in a bucket of the account area.
  await plugins.start()
  return {
    write: baseFiles.operator.write,
    open: baseFiles.operator.open,
    async close() {
      plugins.close()
      await records.close()
      await indexes.close()
      await kernel.close()
    },
  }
}

export interface RunningServer {
  url: string
  kernel: Kernel
  services: Services
  /** Serves on for `drainSeconds`, gives running requests `stopSeconds`, then closes all files. */
  stop(): Promise<void>
}

/**
 * Starts the whole product in this process. `port` 0 takes a free one.
 *
 * @param startAnew replaces this process by a new one of the same program; null if it cannot
 */
export async function startServer(
  config: Config,
  startAnew: (() => void) | null = null,
): Promise<RunningServer> {
  const kernel = await openKernel(config)
  const services = createServices(kernel)
  await services.backups.recordRestore()
  await kernel.jobs.recover()
  await kernel.limits.start()
  await services.plugins.start()
  await services.baseImports.start()
  kernel.mail.start()
  await services.records.feed.start()
  await services.trash.start()
  await services.notifications.start()
  services.hooks.start()
  services.backups.start()
  const socket = createSocket(kernel, services.auth, await services.backups.latestRestore())
  describeKernel(kernel, socket.count)
  const app = createApp(kernel, services)
  const { metrics } = kernel
  const inTime = createAnswersInTime(kernel.meta.cluster)
  const answerInTime = (request: Request) => inTime.answer(request, () => app.fetch(request))
  const answer = (request: Request) =>
    metrics ? measureRequests(metrics, request, () => answerInTime(request)) : answerInTime(request)
  let isRestarting = false
  const server = listen(config, () =>
    Bun.serve({
      port: config.port,
      hostname: config.host,
      idleTimeout: 60,
      // Routes check each file and each JSON body.
      maxRequestBodySize:
        Math.max(
          config.importMaxBytes,
          config.bodyMaxBytes,
          MAX_ATTACHMENTS_EVER * config.attachmentMaxBytes,
        ) +
        1024 * 1024,
      fetch: logRequests(
        kernel.log,
        config.logLevel,
        (request, bun) =>
          (isRestarting ? answerWhileRestarting(request) : null) ??
          socket.handle(request, bun) ??
          asCaller(
            request,
            config.queryTimeoutSeconds * 1000,
            () => answer(request),
            () => clientAddress(config, request, bun),
          ),
      ),
      development: false,
      // An error that no adapter handled. Its text is logged, not sent.
      error(error) {
        kernel.log.error('request failed outside the adapters', error)
        return Response.json(
          { error: 'INTERNAL_SERVER_ERROR', message: 'Please check server log for more details' },
          { status: 500 },
        )
      },
      websocket: socket.websocket,
    }),
  )
  app.server = server
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`
  kernel.log.info('listening', { url, dataDir: config.dataDir, metadata: kernel.meta.client })
  /** Closes everything, once running requests have ended or `stopSeconds` are over. */
  const closeAll = async (requestsEnded: Promise<unknown>) => {
    const inTimeForAll = Promise.race([requestsEnded, Bun.sleep(config.stopSeconds * 1000)])
    services.storage.close()
    await services.notifications.close()
    await services.backups.close()
    services.plugins.close()
    await services.records.feed.close()
    await services.hooks.close()
    await services.records.close()
    const indexesClosed = services.indexes.close()
    await inTimeForAll
    if (!isRestarting) await server.stop(true)
    inTime.close()
    await indexesClosed
    await kernel.close()
    kernel.log.info('stopped')
  }
  /** The end of the server; with a restart only if it is asked to stop meanwhile. */
  let stopped: Promise<void> | null = null
  let isStopWanted = false
  const stop = async () => {
    kernel.shutdown.hasBegun = true
    kernel.log.info('stopping', { drainSeconds: config.drainSeconds })
    await Bun.sleep(config.drainSeconds * 1000)
    // Browsers reconnect at once, to another server if there is one.
    socket.close()
    // No new requests from here on. A long-polling client or a slow upload must not delay the stop until the process is
    // killed.
    await closeAll(server.stop())
  }
  const exchangeData = async (exchange: () => Promise<void>, failed: (error: unknown) => void) => {
    kernel.shutdown.hasBegun = true
    isRestarting = true
    kernel.log.info('stopping to exchange the data')
    socket.tellRestart()
    const tooLate = Bun.sleep(config.stopSeconds * 1000 + MAX_CLOSE_MS).then(() => {
      throw new Error('What runs on the server did not end in time')
    })
    try {
      await Promise.race([closeAll(untilIdle(server)), tooLate])
      await exchange()
    } catch (error) {
      kernel.log.error('the data could not be exchanged', error)
      try {
        failed(error)
      } catch (reason) {
        kernel.log.error('that the data could not be exchanged could not be noted', reason)
      }
    }
  }
  kernel.restart =
    startAnew &&
    ((exchange, failed) => {
      if (stopped) return
      stopped = exchangeData(exchange, failed).then(async () => {
        // Processes that were ended are noticed a moment later; the new program would not know them.
        await Bun.sleep(CHILDREN_END_MS)
        if (isStopWanted) return
        kernel.log.info('starting anew')
        startAnew()
      })
    })
  return {
    url,
    kernel,
    services,
    stop: () => {
      isStopWanted = true
      stopped ??= stop()
      return stopped
    },
  }
}

/** A server that restarts gives all that it closes this time, after that of running requests: it would answer nothing but 503 for longer. */
const MAX_CLOSE_MS = 120_000

const CHILDREN_END_MS = 100

/** How often a server that restarts looks whether requests are still running. */
const LOOK_FOR_REQUESTS_MS = 20

/** Resolves once all requests of a server have been answered completely. */
async function untilIdle(server: Pick<Bun.Server<never>, 'pendingRequests'>): Promise<void> {
  do await Bun.sleep(LOOK_FOR_REQUESTS_MS)
  while (server.pendingRequests > 0)
}

/** How often the end of a job is looked for. */
const LOOK_EVERY_MS = 100

/** As `Program.restoreBaseAt`: for the time of the restore this process is a server that nobody has the address of. */
export async function restoreBaseAt(
  config: Config,
  input: { baseId: string; at: string; title: string | null },
): Promise<BaseRestoredAt> {
  const server = await startServer({
    ...config,
    port: 0,
    host: '127.0.0.1',
    drainSeconds: 0,
    logLevel: 'error',
  })
  try {
    const { auth, backups } = server.services
    const [first] = await auth.superAdmins()
    const owner = first === undefined ? null : await auth.actorOf(first)
    if (!owner) throw new Error('There is no super admin to own the restored base')
    const { jobId } = await backups.restoreBaseAt(owner, input)
    for (;;) {
      const job = await server.kernel.jobs.find(jobId)
      if (job === null) throw new Error('The restore was cancelled')
      if (job.status === 'completed') return job.result as BaseRestoredAt
      if (hasEnded(job.status)) throw new Error(job.error ?? 'The restore was cancelled')
      await Bun.sleep(LOOK_EVERY_MS)
    }
  } finally {
    await server.stop()
  }
}
