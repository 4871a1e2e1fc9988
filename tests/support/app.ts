import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningServer, startServer } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { type Credentials, createBrowser, createRestClient, createTrpcClient } from './client.ts'
import { createDatabase } from './servers.ts'

export const PASSWORD = 'correct horse battery'

/** Someone with an account, and the token of their session. */
export interface TestUser {
  id: string
  email: string
  token: string
}

export type TestApp = Awaited<ReturnType<typeof createTestApp>>

export interface TestAppOptions {
  /** Where the metadata is kept, and new bases have their home. SQLite unless named, or said by `TEST_HOME`. */
  database?: 'sqlite' | 'postgres'
  config?: Partial<Config>
}

/**
 * Starts the whole server in this process, with a data folder and a database of its own. Stop it when
 * done: that removes both.
 * @example
 * const app = await createTestApp()
 * const owner = await app.signUp()
 * await app.trpc(owner.token).bases.create.mutate({ title: 'CRM' })
 * await app.stop()
 */
export async function createTestApp({ database = testHome(), config = {} }: TestAppOptions = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-test-'))
  const postgres = database === 'postgres' ? await createDatabase('postgres') : null
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    DATABASE_URL: postgres?.url,
    // All people of a test come from one address.
    SIGN_UPS_PER_HOUR: '1000000',
  }
  const settings = { ...readConfig(environment), ...config }
  const server: RunningServer = await startServer(settings)
  const { url, kernel, services } = server
  let people = 0

  return {
    url,
    kernel,
    services,
    /** What it was started with: a second server of the same database takes the same. */
    config: settings,
    /** A checkbox as REST clients see it: SQLite's columns hold 0 and 1. */
    flag: (value: boolean) => (kernel.sources.newHome === 'pg' ? value : Number(value)),

    /** Ends the server and removes what it wrote. */
    async stop(): Promise<void> {
      await server.stop()
      await postgres?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },

    /** A new account; the first one of an app is its super admin. */
    async signUp(email = `person${++people}@example.com`): Promise<TestUser> {
      const { token } = await createTrpcClient(url).auth.signUp.mutate({ email, password: PASSWORD })
      const { user } = await createTrpcClient(url, token).auth.me.query()
      if (!user) throw new Error(`${email} could not sign up`)
      return { id: user.id, email, token }
    },

    /** The web app's own client, as the holder of a session's token, as a visitor or as nobody. */
    trpc: (credentials?: Credentials) => createTrpcClient(url, credentials),

    /** The REST API, as the holder of a session's token or an API token, or as nobody. */
    rest: (credentials?: Credentials) => createRestClient(url, credentials),

    /** A browser: a tRPC client that keeps cookies. */
    browser: () => createBrowser(url),
  }
}

/** The database of tests that name none: the suites of scripts/test/homes.ts run on each. */
const testHome = () => (process.env.TEST_HOME === 'postgres' ? 'postgres' : 'sqlite')

/** The engines that the metadata can be in, for tests that hold on each. */
export const META_DATABASES = ['sqlite', 'postgres'] as const
