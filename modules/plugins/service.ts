import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import {
  type ChatPluginId,
  type EmailPluginId,
  findPlugin,
  PLUGINS,
  type PluginCategory,
  type PluginConfig,
  type PluginDefinition,
  type PluginValues,
  type StoragePluginId,
} from '../../src/core/plugins/index.ts'
import type { HttpReply } from '../../src/http.ts'
import type { Kernel } from '../../src/kernel.ts'
import { mailSettingsOf } from '../../src/mail/plugin-settings.ts'
import type { MailSettings } from '../../src/mail/smtp-settings.ts'
import { m } from '../../src/messages.gen.ts'
import type { ConfiguredBuckets } from '../../src/storage/index.ts'
import { type AuthService, createHourlyLimit, requireUser } from '../auth/index.ts'
import type { RecordsService } from '../records/index.ts'
import { bucketOf } from './buckets.ts'
import { CATEGORIES } from './categories.ts'
import { CHAT_SERVICES, type ChatRequest } from './chat/index.ts'
import { createProbes, type TestResult } from './probes.ts'
import { maskSecrets, type PluginProblem, readPluginConfig, withStoredSecrets } from './read-config.ts'
import { createPluginStore, type StoredBucket } from './store.ts'

/** A plugin and its configuration, without secrets. */
export interface PluginState {
  id: string
  title: string
  category: PluginCategory
  /** True if it is in use. */
  isActive: boolean
  /** Set by environment variables, which take precedence and cannot be changed here. */
  isFromEnvironment: boolean
  /** Its configuration with masked secrets; null if there is none. */
  config: PluginConfig | null
  /** The configuration was sealed with another CONNECTION_SECRET: it has to be entered again. */
  isUnreadable: boolean
  /** ISO 8601; null if it was never configured. */
  updatedAt: string | null
}

/** The files of one store. */
export interface StoredFiles {
  /** Null for the store of the environment. */
  storeId: string | null
  /** The bucket; null for the folder in the data folder. */
  bucket: string | null
  /** Of the bucket; null for the folder and for Amazon S3. */
  endpoint: string | null
  /** True for the store of new files. */
  isCurrent: boolean
  files: number
  bytes: number
}

/** A chat service that webhooks can use. */
export interface UsableChat {
  /** The type of the channel in a webhook. */
  type: string
  title: string
  /** The names of its channels; null if messages go to telephone numbers. */
  channels: string[] | null
}

/** Where a hook sends a message: a named channel, a webhook URL, or a telephone number. */
export interface ChatTarget {
  channel?: string
  webhookUrl?: string
  to?: string
}

const MAX_TESTS_PER_HOUR = 60

export type PluginsService = ReturnType<typeof createPluginsService>

/** Mail services, file stores and chat services that super admins configure. */
export function createPluginsService(kernel: Kernel, auth: AuthService, records: RecordsService) {
  const { config, log } = kernel
  const { access, audits } = auth
  const store = createPluginStore(kernel)
  const probes = createProbes(kernel)
  const tests = createHourlyLimit(
    { limits: kernel.limits, name: 'plugin tests' },
    MAX_TESTS_PER_HOUR,
    m.plugins_error_too_many_tests,
  )

  /** The plugin in use of an exclusive category: servers that activate two at once agree on the first. */
  const activeOf = (category: PluginCategory) => {
    for (const { id, category: of } of PLUGINS) {
      const stored = of === category ? store.find(id) : null
      if (stored?.isActive && stored.config !== null) return { id, config: stored.config }
    }
    return null
  }

  /** The settings that were computed last: they stay the same object while nothing changes. */
  let mailNow: { config: PluginConfig; settings: MailSettings } | null = null

  const mailSettings = {
    current(): MailSettings | null {
      const active = activeOf('email')
      if (!active) return null
      if (mailNow?.config !== active.config) {
        const settings = mailSettingsOf(
          active.id as EmailPluginId,
          active.config as PluginValues,
          config.publicUrl,
        )
        mailNow = { config: active.config, settings }
      }
      return mailNow.settings
    },
  }

  const buckets: ConfiguredBuckets = {
    current() {
      const active = activeOf('storage')
      if (!active) return null
      const { id, settings } = bucketOf(active.id as StoragePluginId, active.config as PluginValues)
      return store.bucket(id) ?? { id, settings }
    },
    find: async (id) => (await store.findBucket(id))?.settings ?? null,
  }

  /** @throws GENERIC_NOT_FOUND */
  function definitionOf(id: string): PluginDefinition {
    const definition = findPlugin(id)
    if (definition) return definition
    throw new AppError('GENERIC_NOT_FOUND', m.plugins_error_unknown({ id: id.slice(0, 100) }))
  }

  const environmentOf = (category: PluginCategory) => CATEGORIES[category].environment(config)

  function present(definition: PluginDefinition): PluginState {
    const { id, title, category } = definition
    const stored = store.find(id)
    const environment = environmentOf(category)
    const fromEnvironment = environment?.pluginId === id ? environment.values : null
    const isActive = CATEGORIES[category].isExclusive
      ? activeOf(category)?.id === id
      : stored?.isActive === true
    return {
      id,
      title,
      category,
      isActive: fromEnvironment !== null || (environment === null && isActive),
      isFromEnvironment: fromEnvironment !== null,
      config: fromEnvironment ?? (stored?.config ? maskSecrets(definition, stored.config) : null),
      isUnreadable: stored?.isUnreadable ?? false,
      updatedAt: stored?.updatedAt ?? null,
    }
  }

  /**
   * Checks a configuration after completing it by stored secrets.
   * @throws BAD_REQUEST with all problems in `details.problems`
   */
  function readConfig(definition: PluginDefinition, input: unknown, siteUrl: string): PluginConfig {
    const stored = store.find(definition.id)?.config ?? null
    const completed = withStoredSecrets(definition, input, stored)
    const read = readPluginConfig(definition, completed.input)
    const problems: PluginProblem[] = [...read.problems, ...completed.problems]
    const [first] = problems
    if (first) throw new AppError('BAD_REQUEST', first.message, { problems }, 'msg')
    const namesUrl = definition.inputs.some(({ key }) => key === 'public_url')
    // PUBLIC_URL, or the address of an administrator's own request, unless they name another.
    return namesUrl && !Array.isArray(read.config)
      ? { ...read.config, public_url: read.config.public_url ?? siteUrl }
      : read.config
  }

  return {
    mailSettings,
    buckets,

    /** Reads the stored plugins. Before the first request. */
    start: store.start,
    close: store.close,

    /** All plugins. @throws PERMISSION_DENIED below super admin */
    async list(actor: Actor): Promise<PluginState[]> {
      await access.authorize(actor, 'plugin.read')
      return PLUGINS.map(present)
    },

    /** Number and size of the files in each store. @throws PERMISSION_DENIED below super admin */
    async storedFiles(actor: Actor): Promise<StoredFiles[]> {
      await access.authorize(actor, 'plugin.read')
      const { id: current } = kernel.files.current()
      const sizes = await records.attachments.sizesOfStores()
      if (!sizes.some(({ storeId }) => storeId === current))
        sizes.push({ storeId: current, files: 0, bytes: 0 })
      const found = sizes.map(async ({ storeId, files, bytes }) => {
        const settings = storeId === null ? config : await buckets.find(storeId)
        const { s3Bucket: bucket, s3Endpoint } = settings ?? { s3Bucket: storeId, s3Endpoint: null }
        const endpoint = bucket === null ? null : s3Endpoint
        return { storeId, bucket, endpoint, isCurrent: storeId === current, files, bytes }
      })
      return (await Promise.all(found)).sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent))
    },

    /** A plugin by its id, or null. @throws PERMISSION_DENIED below super admin */
    async find(actor: Actor, id: string): Promise<PluginState | null> {
      await access.authorize(actor, 'plugin.read')
      const definition = findPlugin(id)
      return definition && present(definition)
    },

    /** Whether a plugin is in use; an unknown one is not. @throws PERMISSION_DENIED below super admin */
    async isActive(actor: Actor, id: string): Promise<boolean> {
      await access.authorize(actor, 'plugin.read')
      const definition = findPlugin(id)
      return definition !== null && present(definition).isActive
    },

    /**
     * Stores a configuration and puts the plugin into use, on all servers at once. Of mail services and of file stores,
     * one is in use at a time. Files that are already stored stay where they are. Stored secrets that the input leaves
     * masked or empty are kept.
     *
     * @param siteUrl address of this server in the request, for links in mails where PUBLIC_URL is not set
     * @throws BAD_REQUEST with `details.problems`, or with the answer of a server that refuses; CONFLICT if the
     *   environment sets it; GENERIC_NOT_FOUND; PERMISSION_DENIED below super admin
     */
    async save(actor: Actor, id: string, input: unknown, siteUrl: string): Promise<PluginState> {
      await access.authorize(actor, 'plugin.update')
      const definition = definitionOf(id)
      refuseEnvironment(definition)
      const values = readConfig(definition, input, siteUrl)
      const { title, category } = definition
      const { id: userId } = requireUser(actor)
      tests.take(userId, '')
      const reason = await probes[category].check(definition, values)
      if (reason !== null) throw badRequest(m.plugins_error_server({ service: title, reason }))
      const others = PLUGINS.filter((other) => other.category === category && other.id !== id)
      const replaced = CATEGORIES[category].isExclusive ? others.map((other) => other.id) : []
      await store.activate(
        { id, config: values, userId },
        replaced,
        bucketFor(definition, values),
        audits.record(actor, { kind: 'plugin.update', detail: { name: title, target: id } }),
      )
      log.info('plugin configured', { plugin: id, userId })
      return present(definition)
    },

    /**
     * Takes a plugin out of use; `keepConfig: false` also removes its configuration. Buckets with files stay readable.
     * @throws as `save`
     */
    async deactivate(
      actor: Actor,
      id: string,
      { keepConfig }: { keepConfig: boolean },
    ): Promise<PluginState> {
      await access.authorize(actor, 'plugin.update')
      const definition = definitionOf(id)
      refuseEnvironment(definition)
      await store.deactivate(
        id,
        requireUser(actor).id,
        keepConfig ? null : { config: null },
        audits.record(actor, { kind: 'plugin.deactivate', detail: { name: definition.title, target: id } }),
      )
      log.info('plugin taken out of use', { plugin: id, userId: requireUser(actor).id })
      return present(definition)
    },

    /** Puts a plugin with a stored configuration into use again. @throws as `save` */
    async reactivate(actor: Actor, id: string, siteUrl: string): Promise<PluginState> {
      await access.authorize(actor, 'plugin.update')
      const { config: stored = null } = store.find(definitionOf(id).id) ?? {}
      if (stored === null) throw badRequest(m.plugins_error_no_config())
      return this.save(actor, id, stored, siteUrl)
    },

    /**
     * Tries a configuration without storing it: mails the caller, writes an object to the bucket and deletes it, or
     * posts to each channel.
     *
     * @param to a telephone number, for services without channels
     * @throws as `save`
     */
    async test(
      actor: Actor,
      id: string,
      input: unknown,
      { siteUrl, to }: { siteUrl: string; to?: string },
    ): Promise<TestResult> {
      await access.authorize(actor, 'plugin.update')
      const definition = definitionOf(id)
      const values = readConfig(definition, input, siteUrl)
      tests.take(requireUser(actor).id, '')
      return probes[definition.category].run(actor, definition, values, to)
    },

    /**
     * Tries the mail server or the file store of the environment.
     * @throws BAD_REQUEST if the environment sets none; as `save`
     */
    async testEnvironment(actor: Actor, category: PluginCategory): Promise<TestResult> {
      await access.authorize(actor, 'plugin.update')
      if (environmentOf(category) === null) throw badRequest(m.plugins_error_not_in_environment())
      tests.take(requireUser(actor).id, '')
      return probes[category].runEnvironment(actor)
    },

    /**
     * The chat services that webhooks of a base can use, with the names of their channels; no secrets.
     * @throws FORBIDDEN below creator
     */
    async channels(actor: Actor, baseId: string): Promise<UsableChat[]> {
      await access.authorize(actor, 'plugin.use', baseId)
      return PLUGINS.flatMap(({ id, title, hookChannel }) => {
        const stored = hookChannel === undefined ? null : store.find(id)
        if (hookChannel === undefined || !stored?.isActive || stored.config === null) return []
        const channels = Array.isArray(stored.config)
          ? stored.config.map(({ channel }) => String(channel))
          : null
        return [{ type: hookChannel, title, channels }]
      })
    },

    chat: {
      /**
       * The request that posts a message for a hook. Does not check access.
       * @throws BAD_REQUEST if the service or the channel is not configured
       */
      request(id: ChatPluginId, target: ChatTarget, message: string): ChatRequest {
        const text = message.trim()
        if (text === '') throw badRequest(m.plugins_error_empty_message())
        const { to } = target
        return CHAT_SERVICES[id].request(valuesFor(id, target), { text, to }, config)
      },
      /** Why the service has not accepted a message; null if it has. */
      problemOf: (id: ChatPluginId, reply: Pick<HttpReply, 'status' | 'statusText' | 'body'>) =>
        CHAT_SERVICES[id].problemOf(reply),
    },
  }

  /** The configuration that reaches a target. @throws BAD_REQUEST */
  function valuesFor(id: ChatPluginId, { channel, webhookUrl }: ChatTarget): PluginValues {
    const { title, isList, inputs } = definitionOf(id)
    const stored = store.find(id)
    const values = stored?.isActive ? stored.config : null
    if (!isList) {
      if (values === null || Array.isArray(values))
        throw badRequest(m.plugins_error_not_configured({ title }))
      return values
    }
    const named = Array.isArray(values) ? values.find((known) => known.channel === channel) : undefined
    if (named) return named
    if (webhookUrl !== undefined && inputs.some(({ key }) => key === 'webhook_url')) {
      return { webhook_url: webhookUrl }
    }
    if (values === null) throw badRequest(m.plugins_error_not_configured({ title }))
    throw badRequest(m.plugins_error_no_such_channel({ title, channel: channel ?? '' }))
  }

  function bucketFor({ id, category }: PluginDefinition, values: PluginConfig): StoredBucket | null {
    return category === 'storage' ? bucketOf(id as StoragePluginId, values as PluginValues) : null
  }

  /** @throws CONFLICT */
  function refuseEnvironment({ category }: PluginDefinition): void {
    const environment = environmentOf(category)
    if (environment === null) return
    throw new AppError('CONFLICT', m.plugins_error_environment({ variable: environment.variable }))
  }
}
