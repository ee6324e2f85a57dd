// Card numbers that choose what happens. The table stands with the contract, because the mock follows it too.
export { sandboxCards, sandboxIssuer, type SandboxCard } from '../providers/simulated-values.ts';
