export { NativeEnvironment as default } from './runtime.js';
