import { appRouter as appInfoRouter, authRouter } from '../modules/auth/index.ts'
import { basesRouter, sourcesRouter } from '../modules/bases/index.ts'
import { copiesRouter, importsRouter, jobsRouter } from '../modules/imports/index.ts'
import { recordsRouter } from '../modules/records/index.ts'
import { schemaRouter } from '../modules/schema/index.ts'
import { sharesRouter } from '../modules/shares/index.ts'
import { storageRouter } from '../modules/storage/index.ts'
import { viewsRouter } from '../modules/views/index.ts'
import type { Services } from './app.ts'
import { router } from './trpc.ts'

/** The tRPC door: one line for each module. */
export const createRouter = (services: Services) =>
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
  })

/** All that the web app knows of the server. */
export type AppRouter = ReturnType<typeof createRouter>
