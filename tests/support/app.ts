import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningServer, startServer } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { type Credentials, createBrowser, createRestClient, createTrpcClient } from './client.ts'
import { createMetadataDatabase } from './servers.ts'

export const PASSWORD = 'correct horse battery'

/*
 * Most tests create several accounts, all with this password. Its hash takes 22 ms of processor time and is computed once
 * per process and cost. Other passwords are hashed anew each time, and signing in always verifies.
 */
const { hash } = Bun.password
const hashes = new Map<string, Promise<string>>()
Bun.password.hash = (password, algorithm) => {
  if (password !== PASSWORD) return hash(password, algorithm)
  const cost = JSON.stringify(algorithm)
  const known = hashes.get(cost) ?? hash(password, algorithm)
  hashes.set(cost, known)
  return known
}

/** An account with a session token. */
export interface TestUser {
  id: string
  email: string
  token: string
}

export type TestApp = Awaited<ReturnType<typeof createTestApp>>

export interface TestAppOptions {
  /** Database of the metadata and new bases; by default that of `TEST_HOME`, else SQLite. */
  database?: 'sqlite' | 'postgres'
  config?: Partial<Config>
  /**
   * The first `signUp` creates the base "Getting started", as the sign-up page does. Without it: creating it takes longer
   * than most tests.
   */
  hasStarter?: boolean
}

/**
 * Starts the complete server in this process, with a temporary data folder and database, which `stop`
 * removes.
 * @example
 * const app = await createTestApp() const owner = await app.signUp() await
 * app.trpc(owner.token).bases.create.mutate({ title: 'CRM' }) await app.stop()
 */
export async function createTestApp({
  database = testHome(),
  config = {},
  hasStarter = false,
}: TestAppOptions = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-test-'))
  const postgres = database === 'postgres' ? await createMetadataDatabase() : null
  const environment = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    DATABASE_URL: postgres?.url,
    // All users of a test share one IP address.
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
    /** The app's configuration, for starting a second server with the same database. */
    config: settings,
    /** A checkbox as REST returns it: 0 or 1 from SQLite. */
    flag: (value: boolean) => (kernel.sources.newHome === 'pg' ? value : Number(value)),

    /** Stops the server and removes its data. */
    async stop(): Promise<void> {
      await server.stop()
      await postgres?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },

    /** Creates an account; the first one of an app is its super admin. */
    async signUp(email = `person${++people}@example.com`): Promise<TestUser> {
      const signUp = hasStarter ? services.auth.signUp : services.auth.session.signUp
      const { user, token } = await signUp({ email, password: PASSWORD }, '127.0.0.1')
      return { id: user.id, email, token }
    },

    /** A tRPC client with a session token or a visitor's headers; anonymous without credentials. */
    trpc: (credentials?: Credentials) => createTrpcClient(url, credentials),

    /** A REST client with a session token or API token; anonymous without credentials. */
    rest: (credentials?: Credentials) => createRestClient(url, credentials),

    browser: () => createBrowser(url),
  }
}

/** The default database: the suites of scripts/test/homes.ts run on each. */
const testHome = () => (process.env.TEST_HOME === 'postgres' ? 'postgres' : 'sqlite')

/** Engines for the metadata, for tests that run on each. */
export const META_DATABASES = ['sqlite', 'postgres'] as const
