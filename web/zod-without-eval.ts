import { config } from 'zod/mini'

// Zod would try whether it may compile code from text, which the page's security policy reports as an error. It tries
// as the first shape is described, so each page imports this before anything that describes one.
config({ jitless: true })
