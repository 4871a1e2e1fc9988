import { CHAT_PLUGINS } from './chat.ts'
import { EMAIL_PLUGINS } from './email.ts'
import type { PluginDefinition } from './plugin.ts'
import { STORAGE_PLUGINS } from './storage.ts'

export { CHAT_PLUGINS, type ChatPluginId } from './chat.ts'
export type { EmailPluginId } from './email.ts'
export {
  PLUGIN_CATEGORIES,
  type PluginCategory,
  type PluginConfig,
  type PluginDefinition,
  type PluginInput,
  type PluginInputFormat,
  type PluginValues,
  SECRET_MASK,
} from './plugin.ts'
export type { StoragePluginId } from './storage.ts'

/** All plugins, in the order of the screen. */
export const PLUGINS: readonly PluginDefinition[] = [...EMAIL_PLUGINS, ...STORAGE_PLUGINS, ...CHAT_PLUGINS]

export const findPlugin = (id: string): PluginDefinition | null =>
  PLUGINS.find((plugin) => plugin.id === id) ?? null
