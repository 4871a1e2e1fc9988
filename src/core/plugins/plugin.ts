/** Kinds of values in the configuration of a plugin. Secrets are sealed at rest and never sent back. */
type PluginInputKind = 'text' | 'secret' | 'number' | 'switch'

/** Formats of texts that are checked before they are stored. */
export type PluginInputFormat = 'address' | 'host' | 'mailbox' | 'name' | 'port' | 'region'

/** One value of a plugin's configuration. Keys are those of NocoDB's API. */
export interface PluginInput {
  key: string
  label: () => string
  kind: PluginInputKind
  format?: PluginInputFormat
  isRequired?: boolean
  /** Initial value of a switch. */
  isOn?: boolean
  /** An example, not translated. */
  placeholder?: string
  help?: () => string
  /** The key of a value without which it is not used: a stored secret is forgotten when that is emptied. */
  usedWith?: string
  /** It decides which server receives the secrets: when it changes, they have to be entered again. */
  isDestination?: boolean
}

export const PLUGIN_CATEGORIES = ['email', 'storage', 'chat'] as const
export type PluginCategory = (typeof PLUGIN_CATEGORIES)[number]

/** A service that an administrator can connect. */
export interface PluginDefinition {
  /** As in NocoDB's API. */
  id: string
  /** Name of the service, not translated. */
  title: string
  category: PluginCategory
  description: () => string
  inputs: readonly PluginInput[]
  /** The configuration is a list of named channels; `channel` is the name. */
  isList?: boolean
  /** Name of its channel of webhooks in NocoDB's API; chat services only. */
  hookChannel?: string
}

export type PluginValues = Record<string, string | number | boolean>
/** A configuration: values, or those of each channel. */
export type PluginConfig = PluginValues | PluginValues[]

/** Stands for a stored secret in what is sent to clients. Sent back, or left empty, it keeps the secret. */
export const SECRET_MASK = '********'
