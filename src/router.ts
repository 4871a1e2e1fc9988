import { type ActivityService, activityRouter } from '../modules/activity/index.ts'
import { type AuthService, appRouter as appInfoRouter, authRouter } from '../modules/auth/index.ts'
import { type BackupsService, backupsRouter } from '../modules/backups/index.ts'
import { type BasesService, basesRouter, sourcesRouter } from '../modules/bases/index.ts'
import { type CommentsService, commentsRouter } from '../modules/comments/index.ts'
import { type ButtonsService, buttonsRouter, type HooksService, hooksRouter } from '../modules/hooks/index.ts'
import {
  type Copies,
  copiesRouter,
  type ImportsService,
  importsRouter,
  jobsRouter,
} from '../modules/imports/index.ts'
import { type IndexesService, indexesRouter } from '../modules/indexes/index.ts'
import { type NotificationsService, notificationsRouter } from '../modules/notifications/index.ts'
import { type PluginsService, pluginsRouter } from '../modules/plugins/index.ts'
import { type RecordsService, recordsRouter } from '../modules/records/index.ts'
import { type SchemaService, schemaRouter } from '../modules/schema/index.ts'
import { type SharesService, sharesRouter } from '../modules/shares/index.ts'
import { type StorageService, storageRouter } from '../modules/storage/index.ts'
import { type ViewsService, viewsRouter } from '../modules/views/index.ts'
import { router } from './trpc.ts'

/** The services that answer tRPC calls. */
export interface RoutedServices {
  auth: AuthService
  bases: BasesService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
  shares: SharesService
  imports: ImportsService
  copies: Copies
  storage: StorageService
  indexes: IndexesService
  notifications: NotificationsService
  plugins: PluginsService
  comments: CommentsService
  activity: ActivityService
  hooks: HooksService
  buttons: ButtonsService
  backups: BackupsService
}

/** The tRPC router, one line per module. */
export const createRouter = (services: RoutedServices) =>
  router({
    app: appInfoRouter(services.auth),
    auth: authRouter(services.auth),
    bases: basesRouter(services.bases),
    sources: sourcesRouter(services.bases),
    schema: schemaRouter(services.schema),
    views: viewsRouter(services.views),
    records: recordsRouter(services.records),
    shares: sharesRouter(services.shares),
    imports: importsRouter(services.imports),
    copies: copiesRouter(services.copies),
    jobs: jobsRouter(services.imports),
    storage: storageRouter(services.storage),
    indexes: indexesRouter(services.indexes),
    notifications: notificationsRouter(services.notifications),
    plugins: pluginsRouter(services.plugins, services.auth),
    comments: commentsRouter(services.comments),
    activity: activityRouter(services.activity),
    hooks: hooksRouter(services.hooks),
    buttons: buttonsRouter(services.buttons),
    backups: backupsRouter(services.backups),
  })

/** The only server type that the web app uses. */
export type AppRouter = ReturnType<typeof createRouter>
